package fn

import (
	"encoding/binary"

	"github.com/google/uuid"

	"engram/graph/value"
	"engram/query/internal/bound"
)

func miscFuncs() []Func {
	return []Func{
		{
			Name: "coalesce", Doc: "The first argument that is not null.",
			Params: []bound.Type{anyT}, Required: 1, Variadic: true, Pure: true, NullAware: true,
			ResultOf: coalesceType, Call: coalesce,
		},
		{
			Name: "exists", Doc: "Whether a property or other value is there, that is, not null.",
			Params: []bound.Type{anyT}, Required: 1, Pure: true, NullAware: true, Result: boolT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.Bool(!args[0].IsNull()), nil
			},
		},
		{
			Name: "nullIf", Doc: "The first argument, or null when the second equals it.",
			Params: []bound.Type{anyT, anyT}, Required: 2, Pure: true, NullAware: true, ResultOf: sameAs,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				if value.Equivalent(args[0], args[1]) {
					return value.Null, nil
				}
				return args[0], nil
			},
		},
		{
			Name: "valueType", Doc: "The name of a value's type, such as 'INTEGER'; 'NULL' of null.",
			Params: []bound.Type{anyT}, Required: 1, Pure: true, NullAware: true, Result: stringT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.String(args[0].Kind().String()), nil
			},
		},
		{Name: "randomUUID", Doc: "A new random UUID as text.", Result: stringT, Call: randomUUID},
		{
			Name: "timestamp", Doc: "The milliseconds since 1970-01-01T00:00Z at the start of the statement.", Result: intT,
			Call: func(c *Context, _ []value.Value) (value.Value, error) {
				return value.Int(c.Statement.Seconds*1000 + int64(c.Statement.Nanos)/1e6), nil
			},
		},
	}
}

func coalesceType(args []bound.Type) bound.Type {
	t := args[0]
	for _, a := range args[1:] {
		t = t.Or(a)
	}
	return t
}

// coalesce is for callers that have all arguments; package eval stops at the
// first that is not null.
func coalesce(_ *Context, args []value.Value) (value.Value, error) {
	for _, a := range args {
		if !a.IsNull() {
			return a, nil
		}
	}
	return value.Null, nil
}

func randomUUID(c *Context, _ []value.Value) (value.Value, error) {
	if c.Rand == nil {
		return value.Null, errNoRandom("randomUUID")
	}
	var u uuid.UUID
	binary.LittleEndian.PutUint64(u[:8], c.Rand.Uint64())
	binary.LittleEndian.PutUint64(u[8:], c.Rand.Uint64())
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant of RFC 9562
	return value.String(u.String()), nil
}

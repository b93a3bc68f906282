package engram

import (
	"time"

	"engram/graph"
	"engram/graph/value"
	"engram/query/result"
)

// The values and results of statements.
type (
	// Value is one value of the language: a number, a string, a node, ...
	Value = value.Value
	// Kind says what a Value holds.
	Kind = value.Kind
	// Node is a node as it was when it was read.
	Node = value.Node
	// Edge is an edge as it was when it was read.
	Edge = value.Edge
	// Path is an alternating walk of nodes and edges.
	Path = value.Path
	// Prop is a property with its name.
	Prop = value.Prop
	// NodeID and EdgeID are numbers inside one database; an external id is a
	// string, see Node.ElementID.
	NodeID = value.NodeID
	// EdgeID is the number of an edge.
	EdgeID = value.EdgeID

	// Result is the complete answer of one statement.
	Result = result.Result
	// Counters tell what a statement changed.
	Counters = result.Counters
	// Plan is how a statement is run, as EXPLAIN and PROFILE show it.
	Plan = result.Plan
	// Notice is a remark on a statement.
	Notice = result.Notice

	// Stats are counters and sizes of a database.
	Stats = graph.Stats
	// NamedCount is how often a label or a relation type is used.
	NamedCount = graph.NamedCount
	// Report is what Check found.
	Report = graph.Report
	// LoadReport tells what a bulk load wrote.
	LoadReport = graph.LoadReport
)

// The kinds of values.
const (
	KindNull          = value.KindNull
	KindBool          = value.KindBool
	KindInt           = value.KindInt
	KindFloat         = value.KindFloat
	KindString        = value.KindString
	KindList          = value.KindList
	KindMap           = value.KindMap
	KindNode          = value.KindNode
	KindEdge          = value.KindEdge
	KindPath          = value.KindPath
	KindDate          = value.KindDate
	KindLocalTime     = value.KindLocalTime
	KindTime          = value.KindTime
	KindLocalDateTime = value.KindLocalDateTime
	KindDateTime      = value.KindDateTime
	KindDuration      = value.KindDuration
)

// ValueOf makes a value of a Go value: booleans, all integers and floats,
// strings, time.Time and time.Duration, slices and maps of these, and Values.
func ValueOf(v any) (Value, error) {
	out, err := value.FromAny(v)
	if err != nil {
		return out, &Error{Code: CodeInvalidArgument, Message: err.Error(), Err: err}
	}
	return out, nil
}

// DateTimeOf makes a datetime with the offset, and where it has one the zone, of
// t.
func DateTimeOf(t time.Time) Value {
	v, err := value.FromAny(t)
	if err != nil { // a name that is no zone: keep the offset
		v, _ = value.FromAny(t.In(time.FixedZone("", offset(t))))
	}
	return v
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

// LocalDateTimeOf makes a local datetime of the date and time that t shows.
func LocalDateTimeOf(t time.Time) Value {
	return value.OfLocalDateTime(value.LocalDateTime{
		Seconds: t.Unix() + int64(offset(t)), Nanos: int32(t.Nanosecond()),
	})
}

// DateOf makes a date of the day that t shows.
func DateOf(t time.Time) Value {
	const day = 24 * 60 * 60
	seconds := t.Unix() + int64(offset(t))
	days := seconds / day
	if seconds%day < 0 {
		days--
	}
	return value.OfDate(value.Date{Days: days})
}

// ParseTyped reads typed JSON, as Value.AppendTyped writes it: values that JSON lacks
// are objects with $kind, such as {"$kind":"date","value":"2024-05-01"}.
func ParseTyped(data []byte) (Value, error) { return value.ParseTyped(data) }

// FromTyped makes a value of typed JSON that was read into nil, bool, json.Number,
// string, []any and map[string]any.
func FromTyped(x any) (Value, error) { return value.FromTyped(x) }

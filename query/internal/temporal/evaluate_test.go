package temporal_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/temporal"
)

// evaluator is a small recursive-descent evaluator of the expressions that the
// temporal features use.
type evaluator struct {
	t      *testing.T
	tokens []string
	env    map[string]value.Value
	err    error // the first error of a function
}

var tokenPattern = regexp.MustCompile(`'[^']*'|\d+\.\d+|\w+|[<>]=|\S`)

func evaluate(t *testing.T, text string, env map[string]value.Value) value.Value {
	t.Helper()
	v, err := tryEvaluate(t, text, env)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func tryEvaluate(t *testing.T, text string, env map[string]value.Value) (value.Value, error) {
	t.Helper()
	e := &evaluator{t: t, tokens: tokenPattern.FindAllString(text, -1), env: env}
	v := e.comparison()
	if len(e.tokens) > 0 {
		t.Fatalf("not understood in %q: %q", text, e.tokens)
	}
	return v, e.err
}

func (e *evaluator) peek() string {
	if len(e.tokens) == 0 {
		return ""
	}
	return e.tokens[0]
}

func (e *evaluator) next() string {
	tok := e.peek()
	e.tokens = e.tokens[min(1, len(e.tokens)):]
	return tok
}

func (e *evaluator) accept(tok string) bool {
	if e.peek() == tok {
		e.next()
		return true
	}
	return false
}

func (e *evaluator) expect(tok string) {
	if got := e.next(); got != tok {
		e.t.Fatalf("%q where %q should be", got, tok)
	}
}

func (e *evaluator) must(v value.Value, err error) value.Value {
	if err != nil && e.err == nil {
		e.err = err
	}
	return v
}

func (e *evaluator) comparison() value.Value {
	a := e.sum()
	switch op := e.peek(); op {
	case "=", "<", ">", "<=", ">=":
		e.next()
		b := e.sum()
		switch op {
		case "=":
			return value.Equal(a, b).Value()
		case "<":
			return value.Less(a, b).Value()
		case ">":
			return value.Less(b, a).Value()
		case "<=":
			return value.LessOrEqual(a, b).Value()
		}
		return value.LessOrEqual(b, a).Value()
	}
	return a
}

func (e *evaluator) sum() value.Value {
	a := e.product()
	for {
		switch {
		case e.accept("+"):
			a = e.must(temporal.Add(a, e.product()))
		case e.accept("-"):
			a = e.must(temporal.Subtract(a, e.product()))
		default:
			return a
		}
	}
}

func (e *evaluator) product() value.Value {
	a := e.postfix()
	for {
		switch {
		case e.accept("*"):
			a = e.must(temporal.Multiply(a, e.postfix()))
		case e.accept("/"):
			a = e.must(temporal.Divide(a, e.postfix()))
		default:
			return a
		}
	}
}

func (e *evaluator) postfix() value.Value {
	v := e.primary()
	for e.accept(".") {
		key := e.next()
		if m := v.AsMap(); m != nil {
			v, _ = m.Get(key)
			continue
		}
		c, ok := temporal.Component(v, key)
		if !ok {
			c = e.must(value.Null, fmt.Errorf("no component %s", key))
		}
		v = c
	}
	return v
}

func (e *evaluator) primary() value.Value {
	tok := e.next()
	switch {
	case tok == "null":
		return value.Null
	case tok == "-":
		v := e.primary()
		if v.Kind() == value.KindInt {
			return value.Int(-v.AsInt())
		}
		return value.Float(-v.AsFloat())
	case tok == "{":
		var entries []value.Prop
		for !e.accept("}") {
			key := e.next()
			e.expect(":")
			entries = append(entries, value.Prop{Key: key, Value: e.comparison()})
			e.accept(",")
		}
		return value.Map(entries)
	case tok == "[":
		return value.List(e.list("]"))
	case strings.HasPrefix(tok, "'"):
		return value.String(strings.Trim(tok, "'"))
	case tok[0] >= '0' && tok[0] <= '9':
		if i, err := strconv.ParseInt(tok, 10, 64); err == nil {
			return value.Int(i)
		}
		f, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			e.t.Fatal(err)
		}
		return value.Float(f)
	}
	if v, ok := e.env[tok]; ok {
		return v
	}
	return e.call(tok)
}

func (e *evaluator) list(end string) []value.Value {
	var elems []value.Value
	for !e.accept(end) {
		elems = append(elems, e.comparison())
		e.accept(",")
	}
	return elems
}

var kinds = map[string]value.Kind{
	"date": value.KindDate, "localtime": value.KindLocalTime, "time": value.KindTime,
	"localdatetime": value.KindLocalDateTime, "datetime": value.KindDateTime, "duration": value.KindDuration,
}

// fixedNow stands in for the clock.
var fixedNow = value.DateTime{Seconds: 1_700_000_000, Nanos: 5}

func (e *evaluator) call(name string) value.Value {
	method := ""
	if e.accept(".") {
		method = strings.ToLower(e.next())
	}
	e.expect("(")
	args := e.list(")")
	if name == "toString" {
		return value.String(args[0].ToString())
	}
	kind, ok := kinds[name]
	if !ok {
		e.t.Fatalf("no function %s", name)
	}
	switch method {
	case "":
		if len(args) == 0 {
			return e.must(temporal.Current(kind, fixedNow, value.Null))
		}
		return e.must(temporal.Construct(kind, args[0]))
	case "transaction", "statement", "realtime":
		if args[0].IsNull() {
			return value.Null
		}
		return e.must(temporal.Current(kind, fixedNow, args[0]))
	case "truncate":
		return e.must(temporal.Truncate(kind, args[0].AsString(), args[1], args[2]))
	case "fromepoch":
		return e.must(temporal.FromEpoch(args[0].AsInt(), args[1].AsInt()))
	case "fromepochmillis":
		return e.must(temporal.FromEpochMillis(args[0].AsInt()))
	case "between":
		return e.must(temporal.Between(args[0], args[1]))
	case "inmonths":
		return e.must(temporal.InMonths(args[0], args[1]))
	case "indays":
		return e.must(temporal.InDays(args[0], args[1]))
	case "inseconds":
		return e.must(temporal.InSeconds(args[0], args[1]))
	}
	e.t.Fatalf("no function %s.%s", name, method)
	return value.Null
}

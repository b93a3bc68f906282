package value

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func date(t *testing.T, text string) Value {
	t.Helper()
	d, err := ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return OfDate(d)
}

// alice, bob and knows are a small graph of loaded values.
var (
	alice = &Node{
		ID: 1, ElementID: "alice", Labels: []string{"Person", "odd label"},
		Properties: []Prop{{"age", Int(7)}, {"n`t", String("x")}},
	}
	bob   = &Node{ID: 2, ElementID: "bob"}
	knows = &Edge{
		ID: 3, ElementID: "k", Type: "KNOWS", Src: 1, Dst: 2, SrcElementID: "alice", DstElementID: "bob",
		Properties: []Prop{{"since", Int(1999)}},
	}
	bare = &Edge{ID: 4, ElementID: "b", Type: "T", Src: 1, Dst: 2, SrcElementID: "alice", DstElementID: "bob"}
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		v              Value
		want, toString string // toString is want where it is empty
	}{
		{v: Null, want: "null"},
		{v: Bool(true), want: "true"},
		{v: Int(math.MinInt64), want: "-9223372036854775808"},
		{v: Float(1), want: "1.0"},
		{v: Float(-0.5), want: "-0.5"},
		{v: Float(math.Copysign(0, -1)), want: "-0.0"},
		{v: Float(0.00001), want: "0.00001"},
		{v: Float(0.000001), want: "1.0E-6"},
		{v: Float(123456789012345), want: "123456789012345.0"},
		{v: Float(1e15), want: "1.0E15"},
		{v: Float(-1.25e300), want: "-1.25E300"},
		{v: nan, want: "NaN"},
		{v: Float(math.Inf(1)), want: "Inf"},
		{v: Float(math.Inf(-1)), want: "-Inf"},
		{v: String("plain ü 雪"), want: "'plain ü 雪'", toString: "plain ü 雪"},
		{v: String("it's a \\ \n\t\r\x01"), want: `'it\'s a \\ \n\t\r\u0001'`, toString: "it's a \\ \n\t\r\x01"},
		{v: list(), want: "[]"},
		{v: list(Int(1), String("a"), Null, list(Float(2))), want: "[1, 'a', null, [2.0]]"},
		{v: mapOf("b", Int(1), "a b", String("c"), "b", Int(2), "1x", Null), want: "{`1x`: null, `a b`: 'c', b: 2}"},
		{v: date(t, "1984-10-11"), want: "'1984-10-11'", toString: "1984-10-11"},
		{
			v: OfDuration(Duration{Months: 14, Days: -3, Seconds: -1, Nanos: 500_000_000}), want: "'P1Y2M-3DT-0.5S'",
			toString: "P1Y2M-3DT-0.5S",
		},
		{v: OfNode(alice), want: "(:Person:`odd label` {age: 7, `n``t`: 'x'})"},
		{v: OfNode(bob), want: "()"},
		{v: OfNode(&Node{Properties: []Prop{{"a", Int(1)}}}), want: "({a: 1})"},
		{v: NodeRef(7), want: "(#7)"},
		{v: OfEdge(knows), want: "[:KNOWS {since: 1999}]"},
		{v: OfEdge(bare), want: "[:T]"},
		{v: EdgeRef(7), want: "[#7]"},
		{v: OfPath(&Path{Nodes: []Value{OfNode(bob)}}), want: "<()>"},
		{
			v:    OfPath(&Path{Nodes: []Value{NodeRef(2), NodeRef(1), NodeRef(2)}, Edges: []Value{OfEdge(bare), EdgeRef(9)}}),
			want: "<(#2)<-[:T]-(#1)-[#9]-(#2)>",
		},
		{
			v:    OfPath(&Path{Nodes: []Value{NodeRef(1), OfNode(bob)}, Edges: []Value{OfEdge(knows)}}),
			want: "<(#1)-[:KNOWS {since: 1999}]->()>",
		},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("String is %s, want %s", got, c.want)
		}
		if c.toString == "" {
			c.toString = c.want
		}
		if got := c.v.ToString(); got != c.toString {
			t.Errorf("ToString is %s, want %s", got, c.toString)
		}
	}
}

func TestFloatTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		text := Float(f).String()
		if back, err := strconv.ParseFloat(text, 64); err != nil || math.Float64bits(back) != math.Float64bits(f) {
			t.Fatalf("%v prints as %s, which reads as %v, %v", f, text, back, err)
		}
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			t.Fatalf("%v prints as the integer %s", f, text)
		}
	})
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Null, "null"},
		{Bool(false), "false"},
		{Int(math.MaxInt64), "9223372036854775807"},
		{Float(1), "1.0"},
		{Float(1e20), "1.0E20"},
		{nan, `"NaN"`},
		{Float(math.Inf(-1)), `"-Inf"`},
		{String(`a "b" <ü>`), `"a \"b\" \u003cü\u003e"`},
		{list(Int(1), list(), String("x")), `[1,[],"x"]`},
		{mapOf("b", Int(1), "a", Null), `{"a":null,"b":1}`},
		{date(t, "2015"), `"2015-01-01"`},
		{NodeRef(1), "null"},
		{EdgeRef(1), "null"},
		{OfNode(alice), `{"id":"alice","labels":["Person","odd label"],"properties":{"age":7,"n` + "`" + `t":"x"}}`},
		{OfEdge(knows), `{"id":"k","type":"KNOWS","start":"alice","end":"bob","properties":{"since":1999}}`},
		{
			OfPath(&Path{Nodes: []Value{OfNode(bob), NodeRef(1)}, Edges: []Value{OfEdge(bare)}}),
			`{"nodes":[{"id":"bob","labels":[],"properties":{}},null],` +
				`"relationships":[{"id":"b","type":"T","start":"alice","end":"bob","properties":{}}]}`,
		},
	} {
		got, err := json.Marshal(c.v) // checks and compacts what MarshalJSON returns
		if err != nil || string(got) != c.want {
			t.Errorf("%s is %s, %v, want %s", c.v, got, err, c.want)
		}
		if got := string(c.v.AppendJSON(nil)); got != c.want {
			t.Errorf("%s is %s, want %s", c.v, got, c.want)
		}
	}
}

func TestJSONIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := list(genValue(2).Draw(t, "value"), String(rapid.String().Draw(t, "text")))
		if text := v.AppendJSON(nil); !json.Valid(text) {
			t.Fatalf("%s is no JSON: %s", v, text)
		}
	})
}

package value

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// loadedAll gives references to nodes and edges a content.
func loadedAll(v Value) Value {
	all := func(list []Value) []Value {
		out := make([]Value, len(list))
		for i, e := range list {
			out[i] = loadedAll(e)
		}
		return out
	}
	props := []Prop{{"at", OfDate(Date{Days: 19844})}, {"name", String("<Ann> \"ü\"")}}
	switch v.Kind() {
	case KindNode:
		return OfNode(&Node{ID: v.NodeID(), ElementID: "n" + v.String(), Labels: []string{"A", "B c"}, Properties: props})
	case KindEdge:
		return OfEdge(&Edge{ID: v.EdgeID(), ElementID: "e", Type: "T", Src: 1, Dst: 2, SrcElementID: "a", DstElementID: "b", Properties: props})
	case KindList:
		return List(all(v.AsList()))
	case KindMap:
		var entries []Prop
		for _, p := range v.AsMap().Entries {
			entries = append(entries, Prop{p.Key, loadedAll(p.Value)})
		}
		return Map(entries)
	case KindPath:
		return OfPath(&Path{Nodes: all(v.AsPath().Nodes), Edges: all(v.AsPath().Edges)})
	}
	return v
}

func TestTypedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := loadedAll(genValue(3).Draw(t, "value"))
		text := v.AppendTyped(nil)
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
		back, err := ParseTyped(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if back.Kind() != v.Kind() || Order(back, v) != 0 || string(back.AppendTyped(nil)) != string(text) {
			t.Fatalf("%s became %s", text, back.AppendTyped(nil))
		}
	})
}

func TestTypedKeepsKinds(t *testing.T) {
	for text, want := range map[string]Value{
		"1": Int(1), "1.0": Float(1), "9223372036854775807": Int(math.MaxInt64), `"2024-05-01"`: String("2024-05-01"), "null": Null, "true": Bool(true),
		`{"$kind":"date","value":"1970-01-02"}`: OfDate(Date{Days: 1}), `{"$kind":"float","value":"Inf"}`: Float(math.Inf(1)), `{"$kind":"map","value":{"$kind":1}}`: Map([]Prop{{"$kind", Int(1)}}),
	} {
		got, err := ParseTyped([]byte(text))
		if err != nil || got.Kind() != want.Kind() || Order(got, want) != 0 {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if back := string(want.AppendTyped(nil)); back != text {
			t.Errorf("%s is written as %s", text, back)
		}
	}
}

func TestTypedRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{", "1 2", "{}", `{"a":1}`, `{"$kind":"date"}`, `{"$kind":"date","value":1}`, `{"$kind":"date","value":"someday"}`, `{"$kind":"stone","value":""}`,
		`{"$kind":"map","value":[]}`, `{"$kind":"map"}`, `{"$kind":"map","value":{"a":{}}}`, `{"$kind":"float","value":1}`, `{"$kind":"float","value":"x"}`,
		`{"$kind":"node"}`, `{"$kind":"node","id":"a","number":"1","properties":{}}`, `{"$kind":"node","id":"a","number":1}`, `{"$kind":"node","id":"a","number":1,"labels":[1],"properties":{}}`,
		`{"$kind":"edge","id":"a"}`, `{"$kind":"path"}`, `{"$kind":"path","nodes":[1],"relationships":[]}`, `{"$kind":"path","nodes":[],"relationships":[]}`,
		strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2),
	} {
		if v, err := ParseTyped([]byte(text)); err == nil {
			t.Errorf("%s became %v", text, v)
		}
	}
}

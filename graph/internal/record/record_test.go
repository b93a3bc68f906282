package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// sameValue compares exactly: kinds, bits of floats, zones.
var sameValue = cmp.Options{
	cmp.Comparer(func(a, b value.Value) bool {
		ea, errA := record.AppendValue(nil, a)
		eb, errB := record.AppendValue(nil, b)
		return errA == nil && errB == nil && bytes.Equal(ea, eb)
	}),
}

func scalar() *rapid.Generator[value.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Bool(), value.Bool),
		rapid.Map(rapid.Int64(), value.Int),
		rapid.Map(rapid.Float64(), value.Float),
		rapid.Map(rapid.String(), value.String),
		rapid.Map(rapid.Int64(), func(n int64) value.Value { return value.OfDate(value.Date{Days: n}) }),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfDateTime(value.DateTime{
				Seconds: rapid.Int64().Draw(t, "s"), Nanos: rapid.Int32Range(0, 999_999_999).Draw(t, "n"),
				Offset: rapid.Int32Range(-64800, 64800).Draw(t, "o"), Zone: rapid.SampledFrom([]string{"", "Europe/Paris"}).Draw(t, "z"),
			})
		}),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfDuration(value.Duration{
				Months: rapid.Int64().Draw(t, "m"), Days: rapid.Int64().Draw(t, "d"),
				Seconds: rapid.Int64().Draw(t, "s"), Nanos: rapid.Int32Range(0, 999_999_999).Draw(t, "n"),
			})
		}),
		rapid.Map(rapid.SliceOfN(rapid.Int64(), 0, 5), func(ns []int64) value.Value {
			var vs []value.Value
			for _, n := range ns {
				vs = append(vs, value.Int(n))
			}
			return value.List(vs)
		}),
	)
}

func genProps(t *rapid.T) []record.Prop {
	var props []record.Prop
	for range rapid.IntRange(0, 6).Draw(t, "props") {
		props = record.SetProp(props, value.KeyID(rapid.Uint32Range(1, 500).Draw(t, "key")), scalar().Draw(t, "value"))
	}
	if len(props) == 0 {
		return []record.Prop{}
	}
	return props
}

func TestNodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &record.Node{CreatedMS: rapid.Int64().Draw(t, "created"), Props: genProps(t)}
		for i := range rapid.IntRange(0, 4).Draw(t, "labels") {
			want.Labels = append(want.Labels, value.LabelID(i*70000+1))
		}
		enc, large, err := record.AppendNode(nil, want)
		if err != nil || len(large) != 0 {
			t.Fatalf("append: %v, %d large values", err, len(large))
		}
		got, err := record.DecodeNode(enc)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, sameValue); d != "" {
			t.Fatal(d)
		}
		for key := value.KeyID(1); key <= 500; key += 7 {
			p, ok, err := record.NodeProp(enc, key)
			w, wok := record.GetProp(want.Props, key)
			if err != nil || ok != wok || !cmp.Equal(p, w, sameValue) {
				t.Fatalf("property %d: %v %v %v, want %v %v", key, p, ok, err, w, wok)
			}
		}
	})
}

func TestEveryStorableKindKeepsItsBits(t *testing.T) {
	for _, v := range []value.Value{
		value.Bool(true), value.Bool(false), value.Int(math.MinInt64), value.Float(math.Copysign(0, -1)),
		value.Float(math.NaN()), value.String(""), value.String("żółć\x00"), value.List(nil),
		value.OfLocalTime(value.LocalTime{Nanos: 86_399_999_999_999}),
		value.OfTime(value.Time{Nanos: 1, Offset: -64800}),
		value.OfLocalDateTime(value.LocalDateTime{Seconds: -31556889864403199, Nanos: 999_999_999}),
		value.OfDateTime(value.DateTime{Seconds: 1, Nanos: 2, Offset: 3208, Zone: "Europe/Stockholm"}),
		value.OfDuration(value.Duration{Months: -1, Days: 2, Seconds: -3, Nanos: 4}),
		value.List([]value.Value{value.String("a"), value.Float(1)}),
	} {
		enc, err := record.AppendValue(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := record.DecodeValue(enc)
		if err != nil || got.Kind() != v.Kind() || !cmp.Equal(v, got, sameValue) {
			t.Errorf("%s came back as %s (%v)", v.Kind(), got.Kind(), err)
		}
	}
	if _, err := record.AppendValue(nil, value.NodeRef(1)); err == nil {
		t.Error("a node was stored as a property")
	}
}

func TestBlockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.Uint64Range(0, 1<<30).Draw(t, "block")
		want := []record.Edge{}
		for off := range record.BlockSize {
			if !rapid.Bool().Draw(t, "live") {
				continue
			}
			want = record.PutEdge(want, record.Edge{
				ID: value.EdgeID(block*record.BlockSize + uint64(off)), Type: value.TypeID(rapid.Uint32().Draw(t, "type")),
				Src: value.NodeID(rapid.Uint64().Draw(t, "src")), Dst: value.NodeID(rapid.Uint64().Draw(t, "dst")),
				CreatedMS: rapid.Int64Range(0, 1<<47).Draw(t, "ms"), Props: genProps(t),
			})
		}
		enc, _, err := record.AppendBlock(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := record.DecodeBlock(block, enc)
		if err != nil {
			t.Fatal(err)
		}
		if len(want)+len(got) > 0 && !cmp.Equal(want, got, sameValue) {
			t.Fatal(cmp.Diff(want, got, sameValue))
		}
		for i := range want {
			e, err := record.EdgeInBlock(want[i].ID, enc)
			if err != nil || e == nil || !cmp.Equal(*e, want[i], sameValue) {
				t.Fatalf("edge %d: %v %v", want[i].ID, e, err)
			}
			keys := []value.KeyID{1, 500}
			for _, p := range want[i].Props {
				keys = append(keys, p.Key, p.Key+1)
			}
			for _, k := range keys {
				wantProp, has := record.GetProp(want[i].Props, k)
				p, there, ok, err := record.EdgePropInBlock(want[i].ID, enc, k)
				if err != nil || !there || ok != has || !cmp.Equal(p, wantProp, sameValue) {
					t.Fatalf("property %d of edge %d: %v %v %v %v", k, want[i].ID, p, there, ok, err)
				}
			}
			want2 := record.DropEdge(append([]record.Edge(nil), want...), want[i].ID)
			if len(want2) != len(want)-1 {
				t.Fatalf("dropping edge %d left %d of %d", want[i].ID, len(want2), len(want))
			}
		}
	})
}

func TestLargeValuesGoOutOfLine(t *testing.T) {
	long := value.String(strings.Repeat("x", record.OverflowAt))
	n := &record.Node{Props: []record.Prop{{Key: 1, Value: value.Int(7)}, {Key: 2, Value: long}}}
	enc, large, err := record.AppendNode(nil, n)
	if err != nil || len(large) != 1 || large[0].Key != 2 || len(enc) > 64 {
		t.Fatalf("%d bytes, %d large, %v", len(enc), len(large), err)
	}
	back, err := record.DecodeValue(large[0].Encoded)
	if err != nil || back.AsString() != long.AsString() {
		t.Fatal("the large value came back changed", err)
	}
	p, ok, err := record.NodeProp(enc, 2)
	if err != nil || !ok || !p.Overflow {
		t.Fatalf("property 2 is %+v, %v, %v", p, ok, err)
	}
	// A reference is kept when the record is written again.
	got, err := record.DecodeNode(enc)
	if err != nil {
		t.Fatal(err)
	}
	again, large, err := record.AppendNode(nil, got)
	if err != nil || len(large) != 0 || !bytes.Equal(enc, again) {
		t.Fatalf("writing again gave %x and %d large values, %v", again, len(large), err)
	}
}

func TestEnvelopeNoticesEveryFlippedBit(t *testing.T) {
	s := record.Sealer{Tag: 0xABCDEF, File: "graph.db"}
	key := []byte{0, 0, 0, 9}
	sealed := s.Seal(store.Nodes, key, []byte("payload"))
	if p, err := s.Open(store.Nodes, key, sealed); err != nil || string(p) != "payload" {
		t.Fatalf("%q, %v", p, err)
	}
	for bit := range len(sealed) * 8 {
		bad := bytes.Clone(sealed)
		bad[bit/8] ^= 1 << (bit % 8)
		var damaged *record.DamagedError
		if _, err := s.Open(store.Nodes, key, bad); !errors.As(err, &damaged) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	}
	for name, open := range map[string]func() ([]byte, error){
		"another key":      func() ([]byte, error) { return s.Open(store.Nodes, []byte{0, 0, 0, 8}, sealed) },
		"another space":    func() ([]byte, error) { return s.Open(store.Edges, key, sealed) },
		"another database": func() ([]byte, error) { return record.Sealer{Tag: 1}.Open(store.Nodes, key, sealed) },
		"cut":              func() ([]byte, error) { return s.Open(store.Nodes, key, sealed[:5]) },
	} {
		_, err := open()
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if name == "another key" && (!strings.Contains(err.Error(), "graph.db") || !strings.Contains(err.Error(), "00000008")) {
			t.Errorf("the error names neither file nor key: %v", err)
		}
	}
}

// FuzzDecode feeds arbitrary payloads to every decoder: they may refuse, never
// panic, and what they accept encodes again to something they accept.
func FuzzDecode(f *testing.F) {
	n, _, _ := record.AppendNode(nil, &record.Node{CreatedMS: 1, Labels: []value.LabelID{1, 2}, Props: []record.Prop{
		{Key: 1, Value: value.String("a")}, {Key: 3, Value: value.List([]value.Value{value.Int(1)})}, {Key: 4, Overflow: true},
	}})
	f.Add(n)
	b, _, _ := record.AppendBlock(nil, []record.Edge{{ID: 3, Type: 1, Src: 1, Dst: 2}, {ID: 9, Type: 1, Src: 2, Dst: 2}})
	f.Add(b)
	f.Add([]byte{0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := record.DecodeNode(b); err == nil {
			enc, _, err := record.AppendNode(nil, n)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := record.DecodeNode(enc); err != nil && len(enc) < 2048 {
				t.Fatal(err)
			}
		}
		_, _, _ = record.NodeProp(b, 3)
		if edges, err := record.DecodeBlock(0, b); err == nil {
			if _, _, err := record.AppendBlock(nil, edges); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = record.EdgeInBlock(3, b)
		_, _, _, _ = record.EdgePropInBlock(3, b, 2)
		_, _ = record.DecodeProps(b)
		_, _ = record.DecodeValue(b)
		_, _ = record.Sealer{}.Open(store.Nodes, nil, b)
	})
}

func TestWalkNode(t *testing.T) {
	node := &record.Node{CreatedMS: 77, Labels: []value.LabelID{2, 9}, Props: []record.Prop{
		{Key: 1, Value: value.Int(5)},
		{Key: 2, Value: value.String("shared")},
		{Key: 3, Value: value.String("")},
		{Key: 4, Value: value.List([]value.Value{value.Int(1)})},
		{Key: 5, Value: value.String("peeked at")},
		{Key: 6, Value: value.String(strings.Repeat("long ", 1000))},
		{Key: 7, Value: value.String("copied")},
	}}
	payload, large, err := record.AppendNode(nil, node)
	if err != nil || len(large) != 1 {
		t.Fatal(err, len(large))
	}
	wants := map[value.KeyID]record.Want{1: record.Share, 2: record.Share, 3: record.Peek, 4: record.Peek, 5: record.Peek, 6: record.Peek, 7: record.Copy}
	var got []string
	var shared, copied value.Value
	var head record.Node
	err = record.WalkNode(payload, &head, func(k value.KeyID) record.Want { return wants[k] }, func(p record.Prop, w record.Want) {
		got = append(got, fmt.Sprint(p.Key, " ", w, " ", p.Overflow, " ", p.Value))
		switch p.Key {
		case 2:
			shared = p.Value
		case 7:
			copied = p.Value
		}
	})
	want := []string{"1 2 false 5", "2 2 false 'shared'", "5 3 false null", "6 3 true null", "7 1 false 'copied'"}
	if err != nil || !cmp.Equal(got, want) || head.CreatedMS != 77 || !cmp.Equal(head.Labels, node.Labels) {
		t.Errorf("%v: %q, head %+v", err, got, head)
	}
	clear(payload)
	if shared.AsString() == "shared" || copied.AsString() != "copied" {
		t.Errorf("without the payload they are %q and %q", shared.AsString(), copied.AsString())
	}
	for n := range len(payload) - 1 {
		again, _, _ := record.AppendNode(nil, node)
		if err := record.WalkNode(again[:n], &head, func(value.KeyID) record.Want { return record.Copy }, func(record.Prop, record.Want) {}); err == nil {
			t.Errorf("the first %d bytes are taken for a record", n)
		}
	}
}

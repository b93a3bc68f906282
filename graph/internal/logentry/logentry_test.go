package logentry_test

import (
	"bytes"
	"testing"

	"engram/graph/internal/logentry"
	"engram/graph/value"
)

func sample() *logentry.Entry {
	return &logentry.Entry{
		NodesAdded:   []logentry.NodeAdded{{ID: 1, CreatedMS: 5, Labels: []value.LabelID{1, 300}}, {ID: 2, CreatedMS: -1}},
		Labels:       []logentry.LabelsSet{{ID: 9, Labels: []value.LabelID{2}}},
		EdgesAdded:   []logentry.EdgeAdded{{ID: 1 << 40, Src: 1, Dst: 2, Type: 3, CreatedMS: 6}},
		EdgesDeleted: []value.EdgeID{4, 5},
		NodesDeleted: []value.NodeID{7},
		Hot:          []logentry.HotSet{{ID: 1, Key: 2, Value: value.Float(.5)}, {ID: 1, Key: 3}},
		Attrs:        []logentry.AttrSet{{ID: 1 << 40, Key: 4, Value: value.Int(3)}},
		TextChanged:  []value.NodeID{1, 9},
		EdgesSwept:   []value.EdgeID{6, 7, 8, 20, 1 << 40},
		Learned:      []logentry.LearnedSet{{ID: 1 << 40, Units: -7}, {ID: 2}},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range []*logentry.Entry{{}, sample(), {Bulk: true, NodeFrom: 1, NodeTo: 1001, EdgeFrom: 5, EdgeTo: 5}} {
		enc, err := logentry.Append(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := logentry.Decode(enc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := logentry.Append(nil, got)
		if err != nil || !bytes.Equal(enc, again) {
			t.Fatalf("decoding lost something: %+v", got)
		}
		if len(got.EdgesSwept) != len(want.EdgesSwept) || len(got.EdgesSwept) > 0 && got.EdgesSwept[4] != 1<<40 {
			t.Fatalf("swept %v, want %v", got.EdgesSwept, want.EdgesSwept)
		}
		if got.Bulk != want.Bulk || got.NodeTo != want.NodeTo || len(got.Hot) != len(want.Hot) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}

func TestCutEntriesAreErrors(t *testing.T) {
	enc, err := logentry.Append(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	for n := range enc {
		if _, err := logentry.Decode(enc[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(enc))
		}
	}
	if _, err := logentry.Decode(append(enc, 0)); err == nil {
		t.Error("a byte too many was accepted")
	}
}

func FuzzDecode(f *testing.F) {
	enc, _ := logentry.Append(nil, sample())
	f.Add(enc)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := logentry.Decode(b); err == nil {
			if _, err := logentry.Append(nil, e); err != nil {
				t.Fatal(err)
			}
		}
	})
}

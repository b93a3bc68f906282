package topo

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
)

// memChunks are chunks kept in memory.
type memChunks struct {
	kinds    []byte
	payloads [][]byte
}

func (m *memChunks) Len() int        { return len(m.kinds) }
func (m *memChunks) Kind(i int) byte { return m.kinds[i] }

func (m *memChunks) Read(i int, buf []byte) ([]byte, error) {
	return append(buf[:0], m.payloads[i]...), nil
}

func (m *memChunks) emit(kind byte, payload []byte) error {
	m.kinds, m.payloads = append(m.kinds, kind), append(m.payloads, bytes.Clone(payload))
	return nil
}

func encoded(v *Version) (*memChunks, error) {
	var m memChunks
	return &m, v.Encode(m.emit)
}

func roundTrip(v *Version) (*Version, error) { return roundTripOf(v, Config{Columns: testColumns}) }

func roundTripOf(v *Version, c Config) (*Version, error) {
	m, err := encoded(v)
	if err != nil {
		return nil, err
	}
	return Decode(c, m, v.Seq())
}

// TestDecodeIsEncodesReverse encodes what was decoded: the bytes must be the same.
func TestDecodeIsEncodesReverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			w.change()
		}
		v := w.e.Commit(7)
		first, err := encoded(v)
		w.must(err)
		got, err := Decode(Config{Columns: testColumns}, first, 7)
		w.must(err)
		w.must(w.m.diff(got, w.maxNode, w.maxEdge))
		second, err := encoded(got)
		w.must(err)
		if got.Seq() != 7 || len(first.kinds) != len(second.kinds) {
			t.Fatalf("seq %d, %d chunks, want seq 7, %d chunks", got.Seq(), len(second.kinds), len(first.kinds))
		}
		for i := range first.kinds {
			if !bytes.Equal(first.payloads[i], second.payloads[i]) {
				t.Fatalf("chunk %d of kind %d differs", i, first.kinds[i])
			}
		}
	})
}

func TestDecodeRefusesOtherColumns(t *testing.T) {
	m, err := encoded(New(Config{Columns: []string{"a"}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(Config{Columns: []string{"a", "b"}}, m, 0); !errors.Is(err, ErrColumns) {
		t.Fatalf("got %v", err)
	}
}

func TestDecodeRefusesMissingChunks(t *testing.T) {
	whole, err := encoded(small(t))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Decode(Config{Columns: testColumns}, whole, 1); err != nil || v.NodeCount(0) != 69 {
		t.Fatalf("the whole cannot be decoded: %v", err)
	}
	for i := range whole.kinds {
		part := &memChunks{}
		for k := range whole.kinds {
			if k != i {
				_ = part.emit(whole.kinds[k], whole.payloads[k])
			}
		}
		v, err := Decode(Config{Columns: testColumns}, part, 1)
		if whole.kinds[i] == chunkCells { // counted anew
			if n, _ := v.EdgesBetween(2, 0, 0); err != nil || n == 0 || !v.verifyCells() {
				t.Errorf("without numbers of edges by labels: %d, %v", n, err)
			}
			continue
		}
		// Segments cannot be missed: nodes without edges have none.
		if err == nil && whole.kinds[i] != chunkSegments {
			t.Errorf("without chunk %d of kind %d: %d nodes", i, whole.kinds[i], v.NodeCount(0))
		}
		twice := &memChunks{kinds: append(whole.kinds[:i+1:i+1], whole.kinds[i:]...), payloads: append(whole.payloads[:i+1:i+1], whole.payloads[i:]...)}
		if _, err := Decode(Config{Columns: testColumns}, twice, 1); err == nil {
			t.Errorf("chunk %d of kind %d may come twice", i, whole.kinds[i])
		}
	}
}

// small makes a version with something of everything.
func small(t testing.TB) *Version {
	e := New(Config{Columns: testColumns}).Edit()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := value.NodeID(1); id <= 70; id++ {
		must(e.AddNode(id*3, []value.LabelID{value.LabelID(1 + id%3)}[:id%2], []HotValue{
			{0, value.Float(float64(id))}, {1, value.String("Working")}, {2, value.Int(int64(id))},
		}, int64(id)*1000))
	}
	for id := value.EdgeID(1); id <= 300; id++ {
		src, dst := value.NodeID(id%70+1)*3, value.NodeID(id%7+1)*3
		init := EdgeInit{Weight: value.Float(0.5), CreatedMs: int64(id)}
		if id%50 == 0 {
			init.Layer, init.Inhibitory = value.Int(3), value.Bool(true)
		}
		must(e.AddEdge(id, src, dst, value.TypeID(1+id%300), init))
	}
	must(e.SetLearned(5, 0.25, true))
	e.DeleteNode(9)
	return e.Commit(1)
}

// FuzzSnapshot changes chunks and expects an error, or a version that can be read
// and changed without a panic. The container's checksums are not in the way here.
func FuzzSnapshot(f *testing.F) {
	whole, err := encoded(small(f))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := Decode(Config{Columns: testColumns}, whole, 1); err != nil {
		f.Fatal(err)
	}
	for i := range whole.kinds {
		f.Add(uint8(i), uint32(3), byte(1), uint32(len(whole.payloads[i])))
		f.Add(uint8(i), uint32(len(whole.payloads[i])/2), byte(0x80), uint32(len(whole.payloads[i])))
		f.Add(uint8(i), uint32(0), byte(0xff), uint32(len(whole.payloads[i])/2))
	}
	f.Fuzz(func(t *testing.T, chunk uint8, at uint32, flip byte, length uint32) {
		damaged := &memChunks{}
		for i, p := range whole.payloads {
			p = bytes.Clone(p)
			if i == int(chunk)%len(whole.kinds) {
				if len(p) > 0 {
					p[int(at)%len(p)] ^= flip
				}
				p = p[:min(len(p), int(length))]
			}
			_ = damaged.emit(whole.kinds[i], p)
		}
		v, err := Decode(Config{Columns: testColumns}, damaged, 1)
		if err != nil {
			return
		}
		useAll(t, v)
	})
}

// useAll reads and changes whatever a version has.
func useAll(t *testing.T, v *Version) {
	for l := range value.LabelID(4) {
		v.ScanNodes(l, 0, make([]value.NodeID, 100))
	}
	e := v.Edit()
	for _, id := range v.ScanNodes(0, 0, make([]value.NodeID, 100)) {
		v.Labels(id, nil)
		for c := range testColumns {
			v.Hot(id, Column(c))
		}
		for _, dir := range []value.Direction{value.Out, value.In, value.Both} {
			v.Degree(id, dir, nil)
			for _, a := range v.Expand(id, dir, nil, nil) {
				v.EdgeEnds(a.Edge)
			}
		}
	}
	for _, id := range v.ScanEdges(0, 0, make([]value.EdgeID, 400)) {
		for _, a := range []EdgeAttr{Weight, Layer, Inhibitory} {
			v.EdgeAttr(id, a)
		}
		if s, ok := v.EdgeSlot(id); ok {
			v.LearnedSlot(s)
			v.Weights([]Hop{{Edge: s}}, nil)
		}
		v.EdgeCreated(id)
	}
	for _, id := range v.Doomed(10, nil) {
		for _, edge := range v.DoomedEdges(id, 100, nil) {
			e.DeleteEdge(edge)
		}
	}
	for _, id := range v.ScanNodes(0, 0, make([]value.NodeID, 3)) {
		e.DeleteNode(id)
	}
	if _, err := encoded(e.Commit(2)); err != nil {
		t.Error(err)
	}
}

package physical

import (
	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
)

// firstChunk is how many entries of an index are read at first; each time it is
// twice as many, up to a batch.
const firstChunk = 64

// orderedWalk is the state of an indexSeek that yields its nodes in order, a chunk
// at a time.
type orderedWalk struct {
	from   access.OrderedIndexes // nil while there is no order
	seek   schema.Seek
	at     []byte // where to go on
	size   int    // of the next chunk
	stage  walkStage
	after  value.NodeID // of the nodes without the property
	label  value.LabelID
	key    value.KeyID
	found  []uint64
	page   []value.NodeID
	values []value.Value
}

type walkStage uint8

const (
	walkNothing walkStage = iota // the next input row begins
	walkIndex
	walkNulls // nodes that the index does not have
)

// openOrder tells whether the index can be walked in order in this execution.
func (o *indexSeek) openOrder(f *frame) error {
	w := &o.walk
	w.from, w.stage = nil, walkNothing
	ordered, ok := f.r.(access.OrderedIndexes)
	if o.def.Order == logical.ByID || o.index == nil || !ok {
		return nil
	}
	if o.def.All {
		w.label, _ = f.r.Label(o.def.Owner)
		w.key, _ = f.r.Key(o.def.Keys[0])
		if entries, _ := ordered.IndexCounts(o.index.ID); o.def.Order == logical.Descending && entries != f.r.NodeCount(w.label) {
			return nil // null comes first, and the index does not have it
		}
	}
	// Asked for nothing, it says whether it can.
	_, _, ok, err := ordered.ScanIndex(schema.Seek{Index: o.index.ID}, o.def.Order == logical.Descending, nil, 0, nil)
	if ok {
		w.from = ordered
	}
	return err
}

// inOrder reports whether the nodes come in the order of the index.
func (o *indexSeek) inOrder() bool { return o.walk.from != nil }

func (o *indexSeek) nextInOrder() (*batch.Batch, error) {
	o.start()
	o.ids = o.ids[:0]
	for o.pos == len(o.got) {
		o.got, o.pos = o.got[:0], 0
		var err error
		switch o.walk.stage {
		case walkNothing:
			ok, err := o.advance()
			if err != nil || !ok {
				return nil, err
			}
			if err := o.beginWalk(); err != nil {
				return nil, err
			}
		case walkIndex:
			err = o.walkOn()
		case walkNulls:
			err = o.walkNulls()
		}
		if err != nil {
			return nil, err
		}
	}
	if err := o.hold(int64(len(o.got)) * idBytes); err != nil {
		return nil, err
	}
	n := min(len(o.got)-o.pos, batch.Size)
	for range n {
		o.src = append(o.src, o.row)
	}
	o.ids = append(o.ids, o.got[o.pos:o.pos+n]...)
	o.pos += n
	return o.fill(), nil
}

// beginWalk starts the walk for the current row.
func (o *indexSeek) beginWalk() error {
	w := &o.walk
	var some bool
	var err error
	if w.seek, _, some, err = o.wanted(); err != nil || !some {
		return err
	}
	w.at, w.size, w.after, w.stage = nil, firstChunk, 0, walkIndex
	return nil
}

func (o *indexSeek) walkOn() error {
	w := &o.walk
	var err error
	w.found, w.at, _, err = w.from.ScanIndex(w.seek, o.def.Order == logical.Descending, w.at, w.size, w.found[:0])
	if err != nil {
		return err
	}
	for _, id := range w.found {
		o.got = append(o.got, value.NodeID(id))
	}
	w.size = min(2*w.size, batch.Size)
	if w.at == nil {
		w.stage = walkNothing
		if o.def.All && o.def.Order == logical.Ascending {
			w.stage = walkNulls
		}
	}
	return o.f.step(len(w.found) + 1)
}

// walkNulls finds a page of nodes that the index does not have.
func (o *indexSeek) walkNulls() error {
	w := &o.walk
	if w.page == nil {
		w.page, w.values = make([]value.NodeID, batch.Size), make([]value.Value, batch.Size)
	}
	page, err := o.f.r.ScanNodes(w.label, w.after, w.page)
	if err != nil {
		return err
	}
	if len(page) < batch.Size {
		w.stage = walkNothing
	}
	if len(page) > 0 {
		w.after = page[len(page)-1]
	}
	values := w.values[:len(page)]
	if err := o.f.r.GatherNodeProp(page, w.key, values); err != nil {
		return err
	}
	for i, v := range values {
		if v.IsNull() {
			o.got = append(o.got, page[i])
		}
	}
	return o.f.step(len(page) + 1)
}

// firstRows tells a sorter that its input comes in order when it has enough.
type firstRows struct {
	source *indexSeek // nil: it does not
	last   value.Value
	bound  value.Value
	known  bool // bound is
}

// enough reports whether no row that is still to come can be among the first keep:
// there are as many with a first key up to bound, and all to come are behind it.
func (o *sorter) enough(keep int64) bool {
	r := &o.first
	if r.source == nil || !r.source.inOrder() || keep == 0 || int64(o.rows.n) < keep {
		return false
	}
	desc := o.keys[0].desc
	if !r.known { // none was dropped yet
		r.known, r.bound = true, o.cols[0][0]
		for _, v := range o.cols[0][1:keep] {
			if c := value.Order(v, r.bound); c > 0 && !desc || c < 0 && desc {
				r.bound = v
			}
		}
	}
	return schema.Behind(r.last, r.bound, desc)
}

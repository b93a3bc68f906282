package graph

import (
	"engram/graph/internal/catalog"
	"engram/graph/internal/commit"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// writes is what a writing transaction has changed so far. Elements it touched
// are kept decoded; the topology is edited at once, so that reads see it.
type writes struct {
	slot  *commit.Slot[*state]
	ed    *topo.Editor
	marks marks
	block uint64 // ids reserved last in front of this transaction

	nodes map[value.NodeID]*nodeEdit
	edges map[value.EdgeID]*edgeEdit
	// dying nodes were deleted without their edges. They are hidden until the
	// statement's end, when they must have no edge left.
	dying map[value.NodeID]struct{}
	// index holds changed entries: the payload, or nil for a deleted one.
	index map[string][]byte
	// declared are the changes of the declared indexes, defs the definitions that
	// changed, in ascending order.
	declared declared
	defs     []uint64
	// retext are nodes whose documents changed although they did not.
	retext map[value.NodeID]struct{}
	blocks map[uint64]struct{} // of edges, to count keys
	graves map[value.NodeID]bool
	vocab  map[string][]byte // changed records, nil for a deleted one
	learn  *learning         // nil until something is learned
	names  []store.Put
	hot    []logentry.HotSet
	attrs  []logentry.AttrSet
	swept  []value.EdgeID
	bytes  int // estimate of what will be written

	next *state // what it becomes; nil until it is handed over
}

// nodeEdit is a node that the transaction touched.
type nodeEdit struct {
	rec     *record.Node // own copy; as it was when deleted
	added   bool
	deleted bool
	labels  bool // changed
	text    bool // its document changed
	freed   []value.KeyID
}

// edgeEdit is an edge that the transaction touched.
type edgeEdit struct {
	rec     record.Edge
	added   bool
	deleted bool
	swept   bool          // deleted, but it ended with its node before
	freed   []value.KeyID // keys whose out-of-line value is of no use any more
}

func newWrites(slot *commit.Slot[*state], s *state) *writes {
	return &writes{
		slot: slot, ed: s.topo.Edit(), marks: s.marks,
		nodes:  map[value.NodeID]*nodeEdit{},
		edges:  map[value.EdgeID]*edgeEdit{},
		dying:  map[value.NodeID]struct{}{},
		index:  map[string][]byte{},
		blocks: map[uint64]struct{}{},
		graves: map[value.NodeID]bool{},
	}
}

// empty reports whether nothing was changed.
func (w *writes) empty() bool {
	return len(w.nodes) == 0 && len(w.edges) == 0 && len(w.index) == 0 && len(w.names) == 0 && len(w.swept) == 0 && len(w.graves) == 0 && len(w.vocab) == 0 && w.declaredSize() == 0 && w.learn.empty()
}

// charge counts bytes that a change will write and refuses to go over the limits
// while nothing is lost yet; the exact sizes are checked at the commit.
func (tx *Tx) charge(bytes int) error {
	w, o := tx.w, &tx.db.opts
	w.bytes += bytes
	if keys := len(w.nodes) + len(w.blocks) + len(w.index) + len(w.names) + w.declaredSize() + w.learn.keys(); w.bytes > o.MaxBytes || keys > o.MaxKeys {
		return tx.doom(fail(LimitExceeded,
			"the transaction changes about %d keys and %d bytes; at most %d keys and %d bytes are allowed: split it or load in bulk",
			keys, w.bytes, o.MaxKeys, o.MaxBytes))
	}
	return nil
}

// doom makes the transaction useless: it can only be ended.
func (tx *Tx) doom(err error) error {
	if tx.err == nil {
		tx.err = err
	}
	return err
}

// sizeOf estimates the encoded size of a value in bytes.
func sizeOf(v value.Value) int {
	switch v.Kind() {
	case value.KindString:
		return 4 + len(v.AsString())
	case value.KindList:
		n := 4
		for _, e := range v.AsList() {
			n += sizeOf(e)
		}
		return n
	}
	return 10
}

// InternLabel returns the id of a label's name, made when it is new.
func (tx *Tx) InternLabel(name string) (value.LabelID, error) {
	id, err := tx.intern(catalog.Label, name)
	return value.LabelID(id), err
}

// InternRelType returns the id of a relation type's name, made when it is new.
func (tx *Tx) InternRelType(name string) (value.TypeID, error) {
	id, err := tx.intern(catalog.RelType, name)
	return value.TypeID(id), err
}

// InternKey returns the id of a property key's name, made when it is new.
func (tx *Tx) InternKey(name string) (value.KeyID, error) {
	id, err := tx.intern(catalog.Key, name)
	return value.KeyID(id), err
}

// maxName is the longest name in bytes.
const maxName = 65535

func (tx *Tx) intern(class catalog.Class, name string) (uint32, error) {
	if id, ok := tx.names.Lookup(class, name); ok {
		return id, nil
	}
	if err := tx.checkWrite(); err != nil {
		return 0, err
	}
	if name == "" || len(name) > maxName {
		return 0, fail(InvalidArgument, "a name of %d bytes; 1 to %d are allowed", len(name), maxName)
	}
	names, id := tx.names.With(class, name)
	k := catalog.StoreKey(class, id)
	tx.w.names = append(tx.w.names, store.Put{
		Space: store.Names, Key: k, Value: tx.db.seal.Seal(store.Names, k, []byte(name)),
	})
	tx.names = names
	if class == catalog.Key {
		tx.keys = tx.db.opts.special(names)
	}
	return id, tx.charge(len(name) + 16)
}

// setIndex notes a new or (payload nil) deleted index entry.
func (w *writes) setIndex(k, payload []byte) { w.index[string(k)] = payload }

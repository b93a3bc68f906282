package graph

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// Sizes of the batches of a bulk load, well below the limits of a transaction.
const (
	loadBytes = 16 << 20
	loadKeys  = 60_000
	loadIDs   = 1 << 18 // ids reserved at once
)

// Loader writes many nodes and edges in large sorted batches, each a transaction
// of its own. It keeps the write slot from other writers until Close. Into an
// empty graph it loads several times faster than transactions do, because the
// topology is built once, at the end; what was loaded becomes visible then.
//
// A crash, and Abort, leave the batches that were durable. A load that names its
// source can be resumed then. A Loader is for one goroutine.
type Loader struct {
	db        *DB
	ctx       context.Context //nolint:containedctx // of the whole load
	fresh     bool            // the graph was empty: build the topology at the end
	textLater bool
	ed        *topo.Editor // when not fresh
	base      *state
	rec       *loadRecord // as it was last durable; nil when the source has no name
	batch     int         // keys
	// doneNodes and doneEdges are what was there when the load was resumed.
	doneNodes, doneEdges int64
	first                value.NodeID // ids from here on are this load's

	names *catalog.Catalog
	keys  *keyTable
	marks marks
	puts  []store.Put // names and overflow of the batch
	index map[string]uint64
	other []store.Put // index entries that cannot collide
	// declared are the entries of the declared indexes in the batch.
	declared declared
	nodes    []loadNode
	// edges are those of the newest block, and head those with which the batch began
	// in the middle of one. Blocks between are encoded, which takes a fifth of the room.
	edges, head []record.Edge
	blocks      []store.Put
	edgeFrom    value.EdgeID // the first edge of the batch
	bytes       int
	changed     []text.Doc
	report      LoadReport
	labels      map[value.NodeID][]value.LabelID // of this load's nodes, when the vocabulary asks
	err         error
}

type loadNode struct {
	id  value.NodeID
	rec record.Node
}

// LoadReport tells what a load wrote, without what was there when it was resumed.
type LoadReport struct {
	Nodes, Edges, Batches int64
	Seq                   uint64 // of the last transaction
}

// LoadOptions say what is loaded.
type LoadOptions struct {
	// Source names what is loaded, best by a hash of it, in up to 256 bytes. Then a
	// load that was not ended by Close can be resumed by loading the same source
	// again, and until then, or GiveUpLoad, no other load can begin. Without a name
	// it cannot be resumed.
	Source string
	// BatchKeys is about how many keys of the store are written in one batch, 1 to
	// 60,000; 0 means 60,000.
	BatchKeys int
	// TextLater ends the load without filling the text index, when the graph was
	// empty. That is done behind, from when the load has ended, or at the first
	// search, which waits for it; or after opening the graph again.
	TextLater bool
}

// Load begins a bulk load that cannot be resumed. It must be ended by Close or
// Abort.
func (db *DB) Load(ctx context.Context) (*Loader, error) { return db.LoadFrom(ctx, LoadOptions{}) }

// LoadFrom begins a bulk load, or resumes one of the same source: then Done tells
// what to leave out. It must be ended by Close or Abort.
func (db *DB) LoadFrom(ctx context.Context, o LoadOptions) (*Loader, error) {
	if len(o.Source) > maxLoadSource || o.BatchKeys < 0 || o.BatchKeys > loadKeys {
		return nil, fail(InvalidArgument, "a load of a source with a name of %d bytes in batches of %d keys; at most %d and %d are allowed",
			len(o.Source), o.BatchKeys, maxLoadSource, loadKeys)
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := db.readLoad(tx.w.slot)
	if err == nil && rec != nil && rec.source != o.Source {
		err = errUnfinishedLoad(rec)
	}
	if err != nil {
		tx.Rollback()
		return nil, err
	}
	tx.w.slot.Abort() // db.writer stays taken
	s := tx.base
	l := &Loader{
		db: db, ctx: ctx, base: s, names: s.names, keys: s.keys, marks: s.marks, batch: cmp.Or(o.BatchKeys, loadKeys),
		fresh: s.topo.NodeCount(0) == 0 && len(s.topo.Doomed(1, nil)) == 0, index: map[string]uint64{},
	}
	if err := l.resume(rec, o.Source); err != nil {
		<-db.writer
		return nil, err
	}
	l.first = value.NodeID(db.ids.node.next)
	l.textLater = o.TextLater && l.fresh
	if l.fresh {
		// What is still in memory would be written together with a seq of this
		// load, whose text comes last.
		if err := db.text.Flush(); err != nil {
			<-db.writer
			return nil, wrap(err)
		}
		return l, nil
	}
	l.ed = s.topo.Edit()
	db.compact.Install(l.ed)
	return l, nil
}

// Node adds a node and returns its id. Null properties are left out. A string id
// that is taken is an error, found at the latest when the batch is written.
func (l *Loader) Node(labels []string, props []value.Prop) (value.NodeID, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.newID(&l.db.ids.node)
	if err != nil {
		return 0, l.fail(err)
	}
	rec := record.Node{CreatedMS: l.db.nowMS()}
	for _, name := range labels {
		id, err := l.intern(catalog.Label, name)
		if err != nil {
			return 0, l.fail(err)
		}
		rec.Labels = append(rec.Labels, value.LabelID(id))
	}
	rec.Labels = sortedLabels(rec.Labels)
	if rec.Props, err = l.props(props); err != nil {
		return 0, l.fail(err)
	}
	if err := l.indexID(false, n, rec.Props); err != nil {
		return 0, l.fail(err)
	}
	id := value.NodeID(n)
	if err := l.declareLoaded(nodeElement(id, &rec)); err != nil {
		return 0, l.fail(err)
	}
	if !l.fresh {
		var hot []topo.HotValue
		for _, p := range rec.Props {
			if col, ok := l.keys.hot[p.Key]; ok {
				hot = append(hot, topo.HotValue{Column: col, Value: p.Value})
			}
		}
		if err := l.ed.AddNode(id, rec.Labels, hot, rec.CreatedMS); err != nil {
			return 0, l.fail(wrap(err))
		}
	}
	if err := l.text(id, &rec); err != nil {
		return 0, l.fail(err)
	}
	l.noteLabels(id, rec.Labels)
	l.nodes = append(l.nodes, loadNode{id, rec})
	l.report.Nodes++
	return id, l.flushFull()
}

// Edge adds an edge and returns its id.
func (l *Loader) Edge(src, dst value.NodeID, typ string, props []value.Prop) (value.EdgeID, error) {
	if l.err != nil {
		return 0, l.err
	}
	for _, end := range []value.NodeID{src, dst} {
		if !(end >= l.first && uint64(end) < l.db.ids.node.next) && !l.base.topo.NodeExists(end) {
			return 0, l.fail(errNoNode(end))
		}
	}
	n, err := l.newID(&l.db.ids.edge)
	if err != nil {
		return 0, l.fail(err)
	}
	e := record.Edge{ID: value.EdgeID(n), Src: src, Dst: dst, CreatedMS: l.db.nowMS()}
	t, err := l.intern(catalog.RelType, typ)
	if err != nil {
		return 0, l.fail(err)
	}
	e.Type = value.TypeID(t)
	if err := l.checkRelation(typ, src, dst); err != nil {
		return 0, l.fail(err)
	}
	if e.Props, err = l.props(props); err != nil {
		return 0, l.fail(err)
	}
	if err := l.indexID(true, n, e.Props); err != nil {
		return 0, l.fail(err)
	}
	if !l.fresh {
		init := topo.EdgeInit{CreatedMs: e.CreatedMS}
		for _, p := range e.Props {
			if a, ok := l.keys.edge[p.Key]; ok {
				setInit(&init, a, p.Value)
			}
		}
		if err := l.ed.AddEdge(e.ID, src, dst, e.Type, init); err != nil {
			return 0, l.fail(wrap(err))
		}
	}
	if err := l.addEdge(e); err != nil {
		return 0, l.fail(err)
	}
	l.bytes += 20
	l.report.Edges++
	return e.ID, l.flushFull()
}

// fail keeps the first error: the load can only be ended then.
func (l *Loader) fail(err error) error {
	if l.err == nil {
		l.err = err
	}
	return l.err
}

func (l *Loader) intern(class catalog.Class, name string) (uint32, error) {
	if name == "" || len(name) > maxName {
		return 0, fail(InvalidArgument, "a name of %d bytes; 1 to %d are allowed", len(name), maxName)
	}
	names, id := l.names.With(class, name)
	if names == l.names {
		return id, nil
	}
	l.names = names
	if class == catalog.Key {
		l.keys = l.db.opts.special(names)
	}
	k := catalog.StoreKey(class, id)
	l.puts = append(l.puts, store.Put{Space: store.Names, Key: k, Value: l.db.seal.Seal(store.Names, k, []byte(name))})
	return id, nil
}

func (l *Loader) props(props []value.Prop) ([]record.Prop, error) {
	out := make([]record.Prop, 0, len(props))
	for _, p := range props {
		k, err := l.intern(catalog.Key, p.Key)
		if err != nil {
			return nil, err
		}
		if !p.Value.IsNull() {
			if err := checkStorable(p.Value); err != nil {
				return nil, err
			}
			l.bytes += sizeOf(p.Value)
		}
		out = record.SetProp(out, value.KeyID(k), p.Value)
	}
	l.bytes += 16
	return out, nil
}

// indexID notes the index entry of a new element.
func (l *Loader) indexID(edge bool, n uint64, props []record.Prop) error {
	p, ok := record.GetProp(props, idKey)
	if !ok {
		return nil
	}
	k, unique, ok := indexKey(edge, p.Value)
	if !ok {
		return nil
	}
	if !unique {
		k = key.Uint(k, n)
		l.other = append(l.other, store.Put{Space: store.Index, Key: k, Value: l.db.seal.Seal(store.Index, k, nil)})
		return nil
	}
	s := p.Value.AsString()
	_, _, derivedNode := l.db.tag.ParseNode(s)
	_, _, derivedEdge := l.db.tag.ParseEdge(s)
	if _, twice := l.index[string(k)]; twice || derivedNode && !edge || derivedEdge && edge {
		return l.taken(edge, s)
	}
	l.index[string(k)] = n
	return nil
}

func (l *Loader) taken(edge bool, id string) error {
	if edge {
		return errTaken("relationship", id)
	}
	return errTaken("node", id)
}

// text notes the document of a node. Into an empty graph the index is filled at
// the end, all at once.
func (l *Loader) text(id value.NodeID, rec *record.Node) error {
	if l.fresh {
		return nil
	}
	doc, err := l.db.opts.document(id, rec, l.keys, l.base.schema.texts, nil) // nothing is out of line yet
	if len(doc.Fields) > 0 {
		l.changed = append(l.changed, doc)
	}
	return err
}

// flushFull writes the batch when it is large enough. A block of edges that is
// not full yet stays for the next batch.
func (l *Loader) flushFull() error {
	keys := len(l.nodes) + len(l.blocks) + len(l.index) + len(l.other) + len(l.puts) + l.declared.entries.Len()
	if l.bytes < loadBytes && keys < l.batch {
		return nil
	}
	if err := l.flush(false); err != nil {
		return l.fail(err)
	}
	return nil
}

// flush commits the batch.
func (l *Loader) flush(last bool) error {
	slot, err := l.db.engine.AcquireSlot(l.ctx)
	if err != nil {
		return wrap(err)
	}
	defer slot.Abort()
	entry := &logentry.Entry{Bulk: true}
	puts := l.nodePuts(entry)
	if puts, err = l.edgePuts(puts, entry, slot, last); err != nil {
		return err
	}
	if puts, err = l.indexPuts(puts, slot); err != nil {
		return err
	}
	puts, counts, err := l.declaredPuts(puts, slot)
	if err != nil {
		return err
	}
	seq := slot.Seq() + 1
	if !l.fresh {
		entry.Counts = countsOf(l.ed.View())
	}
	for _, c := range l.changed {
		entry.TextChanged = append(entry.TextChanged, c.Node)
	}
	if puts, err = l.db.logPuts(append(puts, l.puts...), seq, entry); err != nil {
		return err
	}
	puts, rec := l.progress(puts, last)
	next := &state{topo: l.base.topo, names: l.names, keys: l.keys, schema: l.base.schema, vocab: l.base.vocab, activity: l.base.activity, counts: counts, marks: l.marks, changed: newChanges(l.changed)}
	next.recent = l.db.recentText(l.base, uint64(seq), l.changed)
	next.partial = l.fresh
	if !l.fresh {
		next.topo = l.ed.Commit(uint64(seq))
	}
	return l.finish(slot, puts, next, rec)
}

func (l *Loader) nodePuts(entry *logentry.Entry) []store.Put {
	puts := make([]store.Put, 0, len(l.nodes)+len(l.index)+len(l.blocks)+8)
	for i := range l.nodes {
		n := &l.nodes[i]
		k := key.Node(n.id)
		buf, large, err := record.AppendNode(l.db.seal.Room(64), &n.rec)
		if err != nil {
			l.err = wrap(err) // cannot be: every value was checked
			continue
		}
		puts = append(puts, store.Put{Space: store.Nodes, Key: k, Value: l.db.seal.Close(store.Nodes, k, buf)})
		puts = l.db.overflowPuts(puts, overflowNode, uint64(n.id), large, nil)
	}
	if len(l.nodes) > 0 {
		entry.NodeFrom, entry.NodeTo = l.nodes[0].id, l.nodes[len(l.nodes)-1].id+1
	}
	return puts
}

// indexPuts appends the index entries, after looking whether a string id is
// taken.
func (l *Loader) indexPuts(puts []store.Put, src source) ([]store.Put, error) {
	sorted := slices.Sorted(maps.Keys(l.index))
	keys := make([][]byte, len(sorted))
	for i, k := range sorted {
		keys[i] = []byte(k)
	}
	found, err := src.GetMany(store.Index, keys, make([][]byte, 0, len(keys)))
	if err != nil {
		return nil, wrap(err)
	}
	for i, k := range keys {
		if found[i] != nil {
			// A deleted hub's edge may have left its entry; a load does not go
			// into such detail.
			return nil, l.taken(k[0] == indexEdgeID, "with the index key "+string(k[2:]))
		}
		payload := binary.AppendUvarint(nil, l.index[sorted[i]])
		puts = append(puts, store.Put{Space: store.Index, Key: k, Value: l.db.seal.Seal(store.Index, k, payload)})
	}
	return append(puts, l.other...), nil
}

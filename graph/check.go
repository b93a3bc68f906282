package graph

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"engram/graph/internal/catalog"
	"engram/graph/internal/commit"
	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// maxProblems is how many problems a report lists.
const maxProblems = 1000

// Report is what Check found.
type Report struct {
	Seq      uint64
	Problems []string // at most 1,000, in the order of the store
	More     int64    // problems beyond those
	Notes    []string // what is not as usual, but not wrong either
	Nodes    int64
	Edges    int64
	Swept    int64 // edge records of deleted hubs that wait for the sweeper
	Index    int64 // index entries
	Overflow int64 // values out of line
	Log      int64 // log entries
	Texts    int64 // nodes in the text index
	Learned  int64 // events of learning
	Vectors  int64 // nodes with a vector
	Records  int64 // all records whose checksum was verified
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// String tells what was verified and lists the problems, one a line.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "verified %d records up to transaction %d: nodes %d, edges %d, index entries %d, log entries %d, values out of line %d\n",
		r.Records, r.Seq, r.Nodes, r.Edges, r.Index, r.Log, r.Overflow)
	if r.Swept > 0 {
		fmt.Fprintf(&b, "%d edge records of deleted nodes wait to be removed\n", r.Swept)
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	for _, p := range r.Problems {
		b.WriteString("problem: " + p + "\n")
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d problems more\n", r.More)
	}
	if r.OK() {
		b.WriteString("nothing is wrong")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r *Report) add(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Check reads everything and compares it: the store's pages, the checksum of
// every record, edges with their ends, the index with the records both ways,
// values out of line, counters, ids and the topology. It holds a snapshot while
// it runs, so that the file may grow under a writer. The error is about not
// being able to look.
func (db *DB) Check(ctx context.Context) (*Report, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, wrap(err)
	}
	defer snap.Close()
	if snap.Version().partial {
		return nil, fail(Busy, "a bulk load into the graph is under way; check it when that is finished")
	}
	c := &checker{
		ctx: ctx, db: db, snap: snap, s: snap.Version(), report: &Report{Seq: uint64(snap.Seq())},
		labels: map[value.LabelID]int64{}, types: map[value.TypeID]int64{}, graves: map[value.NodeID]bool{},
	}
	if err := db.engine.Driver().Check(func(p string) { c.report.add("%s", p) }); err != nil {
		return nil, wrap(err)
	}
	for _, note := range db.place.notes {
		c.report.add("%s", note)
	}
	for _, step := range []func() error{
		c.meta, c.names, c.nodes, c.edges, c.index, c.overflow, c.log, c.rest, c.counters, c.adjacency, c.topologyFile, c.vocabulary, c.learning, c.text, c.vectors,
	} {
		if err := step(); err != nil {
			return c.report, wrap(err)
		}
	}
	return c.report, nil
}

type checker struct {
	ctx    context.Context //nolint:containedctx // of one check
	db     *DB
	snap   *commit.Snapshot[*state]
	s      *state
	report *Report

	graves  map[value.NodeID]bool
	labels  map[value.LabelID]int64
	types   map[value.TypeID]int64
	texts   []value.NodeID // with text to search, ascending
	refs    int64          // references to values out of line
	indexed int64          // index entries that the records ask for
	last    marks
	marks   marks
}

// scan verifies the checksums of a space and hands out the payloads.
func (c *checker) scan(space store.Space, fn func(k, payload []byte)) error {
	n := 0
	err := c.snap.Scan(space, nil, nil, func(k, sealed []byte) bool {
		if n++; n%256 == 0 && c.ctx.Err() != nil {
			return false
		}
		if space == store.Meta && !bytes.HasPrefix(k, []byte("graph/")) {
			return true // the driver's own
		}
		payload, err := envelope{c.db.seal}.Open(space, k, sealed)
		if err != nil {
			c.report.add("%v", err)
			return true
		}
		c.report.Records++
		fn(k, payload)
		return true
	})
	if err == nil {
		err = c.ctx.Err()
	}
	return err
}

func (c *checker) meta() error {
	return c.scan(store.Meta, func(k, payload []byte) {
		v, _ := binary.Uvarint(payload)
		switch {
		case bytes.Equal(k, metaNodeMark):
			c.marks.node = v
		case bytes.Equal(k, metaEdgeMark):
			c.marks.edge = v
		case bytes.HasPrefix(k, metaGraves):
			if id, ok := key.ParseUint(k[len(metaGraves):]); ok {
				c.graves[value.NodeID(id)] = true
			}
		}
	})
}

func (c *checker) names() error {
	return c.scan(store.Names, func(k, payload []byte) {
		if len(k) != 5 || c.s.names.Name(catalog.Class(k[0]), binary.BigEndian.Uint32(k[1:])) != string(payload) {
			c.report.add("the name %q under %x is not the one in memory", payload, k)
		}
	})
}

func (c *checker) nodes() error {
	return c.scan(store.Nodes, func(k, payload []byte) {
		n, ok := key.ParseUint(k)
		rec, err := record.DecodeNode(payload)
		if !ok || err != nil {
			c.report.add("node record %x cannot be read: %v", k, err)
			return
		}
		id := value.NodeID(n)
		c.report.Nodes++
		c.last.node = n
		for _, l := range rec.Labels {
			c.labels[l]++
			if c.s.names.Name(catalog.Label, uint32(l)) == "" {
				c.report.add("node %d has label %d, which has no name", id, l)
			}
		}
		c.node(id, rec)
		for _, p := range rec.Props {
			_, ok := c.s.keys.text[p.Key]
			if ok && (p.Overflow || p.Value.AsString() != "") ||
				!ok && (p.Overflow || textOf(p.Value) != "") && c.s.schema.texts.wants(id, rec.Labels, p.Key) {
				c.texts = append(c.texts, id)
				break
			}
		}
	})
}

// node compares a record with the topology and the index.
func (c *checker) node(id value.NodeID, rec *record.Node) {
	t := c.s.topo
	if !t.NodeExists(id) {
		c.report.add("node %d has a record but is not in the topology", id)
		return
	}
	labels := t.Labels(id, nil)
	same := len(labels) == len(rec.Labels)
	for i := range labels {
		same = same && labels[i] == rec.Labels[i]
	}
	if !same {
		c.report.add("node %d has labels %v in the record and %v in the topology", id, rec.Labels, labels)
	}
	if ms, _ := t.NodeCreated(id); ms != rec.CreatedMS {
		c.report.add("node %d was created at %d in the record and at %d in the topology", id, rec.CreatedMS, ms)
	}
	for _, k := range slices.Sorted(maps.Keys(c.s.keys.hot)) {
		v, state := t.Hot(id, c.s.keys.hot[k])
		p, ok := record.GetProp(rec.Props, k)
		if ok != (state != topo.Absent) || state == topo.Exact && !identical(v, p.Value) {
			c.report.add("node %d: the column %s differs from the record", id, c.s.names.Name(catalog.Key, uint32(k)))
		}
	}
	c.props(false, uint64(id), rec.Props, false)
	c.declared(nodeElement(id, rec), false)
}

// identical reports whether two values are the same to the bit.
func identical(a, b value.Value) bool {
	x, errX := record.AppendValue(nil, a)
	y, errY := record.AppendValue(nil, b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// props checks what an element keeps outside of its record. dead tells an edge
// that waits for the sweeper.
func (c *checker) props(edge bool, n uint64, props []record.Prop, dead bool) {
	what, kind := "node", overflowNode
	if edge {
		what, kind = "edge", overflowEdge
	}
	for _, p := range props {
		if c.s.names.Name(catalog.Key, uint32(p.Key)) == "" {
			c.report.add("%s %d has property %d, which has no name", what, n, p.Key)
		}
		if p.Overflow {
			c.refs++
			v, err := c.fetch(kind, n, p.Key)
			if err != nil {
				c.report.add("%s %d, property %d: %v", what, n, p.Key, err)
			}
			p.Value = v
		}
		if p.Key == idKey {
			c.indexEntry(edge, n, p.Value, dead)
		}
	}
}

func (c *checker) fetch(kind byte, n uint64, k value.KeyID) (value.Value, error) {
	ok := overflowKey(kind, n, k)
	sealed, err := c.snap.Get(store.Overflow, ok)
	if err != nil {
		return value.Null, err
	}
	payload, err := c.db.seal.Open(store.Overflow, ok, sealed)
	if err != nil {
		return value.Null, err
	}
	return record.DecodeValue(payload)
}

// indexEntry checks that the index has the entry that a record asks for. A newer
// edge may have taken over the string id of a dead one.
func (c *checker) indexEntry(edge bool, n uint64, v value.Value, dead bool) {
	k, unique, ok := indexKey(edge, v)
	if !ok {
		return
	}
	c.indexed++
	if !unique {
		k = key.Uint(k, n)
	}
	sealed, err := c.snap.Get(store.Index, k)
	if err == nil && sealed == nil && dead {
		c.indexed-- // taken over, and given up again
		return
	}
	if err != nil || sealed == nil {
		c.report.add("the index entry %x of element %d is missing (%v)", k, n, err)
		return
	}
	if payload, err := c.db.seal.Open(store.Index, k, sealed); err == nil && unique {
		at, _ := binary.Uvarint(payload)
		if at != n && dead {
			c.indexed--
		} else if at != n {
			c.report.add("the index entry %x names element %d instead of %d", k, at, n)
		}
	}
}

// log checks that the entries follow each other up to the snapshot's seq. Older
// ones may have been trimmed.
func (c *checker) log() error {
	last := store.Seq(0)
	r := &logReader{seal: c.db.seal, fn: func(seq store.Seq, _ *logentry.Entry) error {
		if last != 0 && seq != last+1 {
			c.report.add("log entry %d follows entry %d", seq, last)
		}
		last = seq
		c.report.Log++
		return nil
	}}
	note := func(err error) {
		if err != nil {
			c.report.add("%v", err)
		}
	}
	n := 0
	err := c.snap.Scan(store.Log, nil, nil, func(k, sealed []byte) bool {
		n++
		c.report.Records++
		note(r.piece(k, sealed))
		return n%256 != 0 || c.ctx.Err() == nil
	})
	note(r.flush())
	if last != 0 && last != c.snap.Seq() {
		c.report.add("the log ends at %d, the store at %d", last, c.snap.Seq())
	}
	if err == nil {
		err = c.ctx.Err()
	}
	return err
}

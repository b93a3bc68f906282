package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
)

// duplicates finds nodes of the same label with the same content, or nearly the same.
func duplicates() rule {
	return rule{
		name:  "duplicates",
		title: "Nodes that share a label and have the same content, or nearly the same.",
		thresholds: []Threshold{
			{Name: "near_duplicate", Default: 0.8, Min: 0.7, Max: 1, Meaning: "Share of common shingles (three words in a row, of all that either has) from which contents are nearly the same."},
			{Name: "near_pairs", Default: 1_000_000, Min: 0, Max: 1e9, Meaning: "Number of pairs of contents that are compared at most."},
		},
		begin: func(a *audit) (work, error) {
			w := &duplicateWork{a: a, content: a.want(vocab.KeyContent)}
			w.status, _ = a.tx.Key(vocab.KeyStatus)
			w.telemetry, _ = a.tx.Label(vocab.LabelTelemetry)
			return work{record: w.record, end: w.end}, nil
		},
	}
}

type duplicateWork struct {
	a               *audit
	content, status value.KeyID
	telemetry       value.LabelID
	shingler        shingler
	bytes           []byte
	leftOut         int64
	docs            []*docChunk
	n               int
	keys, spare     []uint64 // to sort
}

// doc is a node with content.
type doc struct {
	slot uint32
	hash [3]uint32 // of the content
}

const docsPer = 1024

// docChunk keeps documents in pieces: growing one array would need it twice. Keys are
// kept by band, since each band is read by itself.
type docChunk struct {
	docs [docsPer]doc
	near [docsPer / 64]uint64 // has words, and no other one with the same content and labels stands for it
	keys [bands][docsPer]uint32
}

func (w *duplicateWork) doc(i uint32) *doc { return &w.docs[i/docsPer].docs[i%docsPer] }

func (w *duplicateWork) record(r *record) error {
	content := strings.TrimSpace(r.Prop(w.content).AsString())
	if content == "" {
		return nil
	}
	if out, err := w.apart(r.ID, r.slot); out || err != nil {
		w.leftOut++
		return err
	}
	if w.n%docsPer == 0 {
		w.docs = append(w.docs, new(docChunk))
	}
	d := w.doc(uint32(w.n))
	w.n++
	w.bytes = append(w.bytes[:0], content...)
	sum := sha256.Sum256(w.bytes)
	d.slot = r.slot
	for i := range d.hash {
		d.hash[i] = binary.LittleEndian.Uint32(sum[4*i:])
	}
	if s := w.shingler.shingles(content); len(s) > 0 {
		c, at := w.docs[len(w.docs)-1], (w.n-1)%docsPer
		c.near[at/64] |= 1 << (at % 64)
		for b, k := range bandKeys(s) {
			c.keys[b][at] = k
		}
	}
	return nil
}

// apart reports whether a node is no duplicate whatever it says: counters repeat, and
// what was superseded or forgotten is out of the way already.
func (w *duplicateWork) apart(id value.NodeID, slot uint32) (bool, error) {
	if w.telemetry != 0 && w.a.shape.HasLabelSlot(slot, w.telemetry) {
		return true, nil
	}
	v, err := w.a.tx.NodeProp(id, w.status)
	s := v.AsString()
	return s == vocab.StatusSuperseded || s == vocab.StatusForgotten, err
}

// groups are sets of documents that are alike, by union-find.
type groups struct {
	parent []uint32
	like   map[uint32]likeness // of those that were joined to another one
}

// likeness says to which document one was found to be alike, and how much: 2 when the
// contents are the same.
type likeness struct {
	doc uint32
	by  float64
}

func (g *groups) find(i uint32) uint32 {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// join notes that two documents are alike; the lower one stands for both.
func (g *groups) join(i, j uint32, by float64) {
	a, b := g.find(i), g.find(j)
	if a == b {
		return
	}
	if a > b {
		a, b = b, a
	}
	g.parent[b] = a
	for _, p := range [][2]uint32{{j, i}, {i, j}} {
		if _, ok := g.like[p[0]]; !ok && p[0] != a {
			g.like[p[0]] = likeness{p[1], by}
			return
		}
	}
}

func (w *duplicateWork) end(f *Finding) error {
	g := &groups{parent: make([]uint32, w.n), like: map[uint32]likeness{}}
	for i := range g.parent {
		g.parent[i] = uint32(i)
	}
	w.keys, w.spare = make([]uint64, w.n), make([]uint64, w.n)
	if err := w.same(g); err != nil {
		return err
	}
	exact := w.members(g)
	near := &nearWork{w: w, g: g, from: w.a.threshold("near_duplicate"), budget: int64(w.a.threshold("near_pairs"))}
	if err := near.run(); err != nil {
		return err
	}
	all := w.members(g)
	f.How = fmt.Sprintf("exact content: by hash, over %d nodes with content; nearly the same: candidates by %d bands of %d minimal hashes, "+
		"each compared over all shingles of %d words; a pair that is alike by 0.8 is missed once in 96,000", w.n, bands, bandRows, shingleWords)
	f.measure("with_content", w.n, "nodes")
	f.measure("left_out", w.leftOut, "nodes")
	f.measure("same_groups", exact.groups, "groups")
	f.measure("same_nodes", len(exact.docs), "nodes")
	f.measure("groups", all.groups, "groups")
	f.measure("nodes", len(all.docs), "nodes")
	f.measure("to_spare", int64(len(all.docs))-all.groups, "nodes")
	f.measure("pairs_compared", near.compared, "pairs")
	f.measure("pairs_not_compared", near.skipped, "pairs")
	w.note(f, all, near)
	slots := make([]uint32, len(all.docs))
	for i, d := range all.docs {
		slots[i] = w.doc(d).slot
	}
	w.a.partsOf(f, slots)
	return w.list(f, g, all, slots)
}

func (w *duplicateWork) note(f *Finding, all members, near *nearWork) {
	if all.groups == 0 {
		f.Note = "No two nodes of a label say the same."
	} else {
		f.Status = Notice
		f.Note = fmt.Sprintf("%d nodes in %s say the same, or nearly, as others of their label; %d could be superseded.",
			len(all.docs), plural(all.groups, "group"), int64(len(all.docs))-all.groups)
	}
	if near.skipped > 0 {
		f.Note += " " + amount(int64(near.skipped), "pair that might be alike was", "pairs that might be alike were") + " not compared, since there are too many of them: the threshold near_pairs raises that."
	}
}

// What is said of those that others are like.
const (
	firstAlike = "the first of those that are alike"
	alsoAlike  = "others of them are like it"
)

// list names the members group by group and suggests to supersede all but the first.
func (w *duplicateWork) list(f *Finding, g *groups, all members, slots []uint32) error {
	var bad error
	name := func(doc uint32) string {
		ext, err := w.a.tx.ElementID(w.a.shape.NodeID(w.doc(doc).slot))
		if err != nil && bad == nil {
			bad = err
		}
		return ext
	}
	err := w.a.listNodes(f, len(slots), w.a.slotIDs(slots), func(i int) string {
		d := all.docs[i]
		like, ok := g.like[d]
		switch {
		case !ok && g.find(d) == d:
			return firstAlike
		case !ok:
			return alsoAlike
		case like.by > 1:
			return "the same content as " + name(like.doc)
		}
		return fmt.Sprintf("%.0f %% like %s", 100*like.by, name(like.doc))
	})
	for _, n := range f.Nodes.Items {
		if n.Why != firstAlike && n.Why != alsoAlike {
			w.a.suggest(f, "FORGET "+quoted(n.Ext)+" BECAUSE "+quoted(n.Why))
		}
	}
	return cmp.Or(err, bad)
}

// members are the documents that are alike to others, group by group.
type members struct {
	docs   []uint32
	groups int64
}

func (w *duplicateWork) members(g *groups) members {
	var m members
	var roots []uint32
	size := map[uint32]int{}
	for i := range uint32(w.n) {
		if r := g.find(i); r != i {
			if size[r] == 0 {
				roots = append(roots, r)
			}
			size[r]++
			m.docs = append(m.docs, i)
		}
	}
	m.groups = int64(len(roots))
	m.docs = append(m.docs, roots...)
	slices.SortFunc(m.docs, func(x, y uint32) int {
		if c := compare(g.find(x), g.find(y)); c != 0 {
			return c
		}
		return compare(x, y)
	})
	return m
}

// same joins documents of the same content that share a label.
func (w *duplicateWork) same(g *groups) error {
	keys := w.keys
	for i := range keys {
		keys[i] = uint64(w.doc(uint32(i)).hash[0])<<32 | uint64(i)
	}
	sortByKey(keys, w.spare)
	var docs []uint32
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j]>>32 == keys[i]>>32 {
			j++
		}
		if docs = docs[:0]; j > i+1 {
			for _, k := range keys[i:j] {
				docs = append(docs, uint32(k))
			}
			w.sameHash(g, docs)
		}
		if i = j; w.a.stopped() {
			return canceled(w.a.ctx)
		}
	}
	return nil
}

// sameHash divides documents whose hashes begin alike.
func (w *duplicateWork) sameHash(g *groups, docs []uint32) {
	slices.SortStableFunc(docs, func(x, y uint32) int {
		a, b := w.doc(x).hash, w.doc(y).hash
		return slices.Compare(a[:], b[:])
	})
	for i := 0; i < len(docs); {
		j := i + 1
		for j < len(docs) && w.doc(docs[j]).hash == w.doc(docs[i]).hash {
			j++
		}
		w.sameLabel(g, docs[i:j])
		i = j
	}
}

// sameLabel joins those documents of the same content that share a label, or that have
// none.
func (w *duplicateWork) sameLabel(g *groups, docs []uint32) {
	if len(docs) < 2 {
		return
	}
	first := map[value.LabelID]uint32{} // 0: without labels
	var labels, others []value.LabelID
	for _, d := range docs {
		labels = w.a.shape.Labels(w.a.shape.NodeID(w.doc(d).slot), labels[:0])
		if len(labels) == 0 {
			labels = append(labels, 0)
		}
		for _, l := range labels {
			if at, ok := first[l]; ok {
				g.join(at, d, 2)
				others = w.a.shape.Labels(w.a.shape.NodeID(w.doc(at).slot), others[:0])
				if l == 0 || slices.Equal(others, labels) {
					w.docs[d/docsPer].near[d%docsPer/64] &^= 1 << (d % 64)
				}
			} else {
				first[l] = d
			}
		}
	}
}

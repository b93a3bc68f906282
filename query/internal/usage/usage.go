// Package usage counts which labels, relation types and properties statements read
// and write, and when they last did. An audit reads it to tell of names that are
// read but never written, and the other way round. Values are not kept, names are.
package usage

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"engram/audit"
)

// The types that a table is told in are those of package audit, which reads it.
type (
	Kind    = audit.UseKind
	Moment  = audit.Moment
	Uses    = audit.Uses
	Name    = audit.NameUse
	Summary = audit.Reads
)

// The kinds of names.
const (
	Label       = audit.UseLabel
	Type        = audit.UseType
	Property    = audit.UseProperty
	Access      = audit.UseAccess
	Computed    = audit.UseComputed
	Maybe       = audit.UseMaybe
	AnyProperty = audit.UseAnyProperty
	AnyType     = audit.UseAnyType
	Recalled    = audit.UseRecalled
)

// MaxNames is how many names are kept; further ones are only counted.
const MaxNames = 10_000

// maxComputed is how many computed names are kept, maxFragment how many bytes of
// each.
const (
	maxComputed = 200
	maxFragment = 80
)

// Table counts. It is safe for concurrent use.
type Table struct {
	statements atomic.Int64
	changed    atomic.Bool

	mu       sync.Mutex
	since    Moment
	begun    bool
	names    map[key]*entry
	computed int
	leftOut  int64
}

type key struct {
	kind Kind
	name string
	of   string
}

type entry struct {
	key
	labels        []string
	reads, writes counter
}

// counter is Uses that several statements count up at once.
type counter struct {
	count             atomic.Int64
	firstSeq, lastSeq atomic.Uint64
	firstAt, lastAt   atomic.Int64
}

func (c *counter) add(m Moment) {
	if c.count.Add(1) == 1 {
		c.firstSeq.Store(m.Seq)
		c.firstAt.Store(m.At)
	}
	if c.lastSeq.Load() != m.Seq { // looking is cheaper than writing
		c.lastSeq.Store(m.Seq)
	}
	if c.lastAt.Load() != m.At {
		c.lastAt.Store(m.At)
	}
}

func (c *counter) uses() Uses {
	return Uses{
		Count: c.count.Load(),
		First: Moment{Seq: c.firstSeq.Load(), At: c.firstAt.Load()}, Last: Moment{Seq: c.lastSeq.Load(), At: c.lastAt.Load()},
	}
}

func (c *counter) set(u Uses) {
	c.count.Store(u.Count)
	c.firstSeq.Store(u.First.Seq)
	c.firstAt.Store(u.First.At)
	c.lastSeq.Store(u.Last.Seq)
	c.lastAt.Store(u.Last.At)
}

// New makes an empty table.
func New() *Table { return &Table{names: map[key]*entry{}} }

// Touched are the names of one statement. It never changes.
type Touched struct {
	reads, writes []*entry
}

// Ran counts a run of a statement that succeeded.
func (t *Table) Ran(touched *Touched, seq uint64, at time.Time) {
	if touched == nil || len(touched.reads)+len(touched.writes) == 0 {
		return
	}
	m := Moment{Seq: seq, At: at.UnixMilli()}
	if t.statements.Add(1) == 1 {
		t.begin(m)
	}
	for _, e := range touched.reads {
		e.reads.add(m)
	}
	for _, e := range touched.writes {
		e.writes.add(m)
	}
	if !t.changed.Load() {
		t.changed.Store(true)
	}
}

func (t *Table) begin(m Moment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		t.since, t.begun = m, true
	}
}

// entry returns the entry of a name, nil when there is no room for it.
func (t *Table) entry(k key, labels []string) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.names[k]; e != nil {
		return e
	}
	if len(t.names) >= MaxNames || k.kind == Computed && t.computed >= maxComputed {
		t.leftOut++
		return nil
	}
	if k.kind == Computed {
		t.computed++
	}
	e := &entry{key: k, labels: labels}
	t.names[k] = e
	return e
}

// Changed reports whether anything was counted since the table was made, loaded or
// asked, and forgets it.
func (t *Table) Changed() bool { return t.changed.Swap(false) }

// Summary copies what the table knows. Names that were looked up for a statement that
// never ran to its end are left out.
func (t *Table) Summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Summary{Since: t.since, Statements: t.statements.Load(), LeftOut: t.leftOut}
	for _, e := range t.names {
		n := Name{Kind: e.kind, Name: e.name, Of: slices.Clone(e.labels), Reads: e.reads.uses(), Writes: e.writes.uses()}
		if n.Reads.Count+n.Writes.Count > 0 {
			s.Names = append(s.Names, n)
		}
	}
	slices.SortFunc(s.Names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), slices.Compare(a.Of, b.Of))
	})
	return s
}

// Load puts what an earlier table knew into an empty one.
func (t *Table) Load(s Summary) {
	if s.Statements <= 0 {
		return
	}
	t.begin(s.Since)
	t.statements.Store(s.Statements)
	for _, n := range s.Names {
		if e := t.entry(keyOf(n.Kind, n.Name, n.Of), n.Of); e != nil {
			e.reads.set(n.Reads)
			e.writes.set(n.Writes)
		}
	}
	t.mu.Lock()
	t.leftOut += s.LeftOut
	t.mu.Unlock()
}

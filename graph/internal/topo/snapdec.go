package topo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"engram/graph/value"
)

// Chunks is where Decode reads from. Read may be called by several goroutines.
type Chunks interface {
	Len() int
	Kind(i int) byte
	// Read returns the payload of chunk i, verified, in buf if that is large
	// enough.
	Read(i int, buf []byte) ([]byte, error)
}

// ErrSnapshot is wrapped by Decode's errors about what a chunk says.
var ErrSnapshot = errors.New("topology snapshot: contents do not fit together")

// ErrColumns: the snapshot was made with other hot columns; nothing is wrong
// with it.
var ErrColumns = errors.New("topology snapshot: made with other hot columns")

// Decode makes a version of what Encode emitted. Whatever the chunks hold, it
// ends with a version that can be read and edited without a panic, or with an
// error. It uses two goroutines, which have ended when it returns.
func Decode(c Config, from Chunks, seq uint64) (*Version, error) {
	d := &decoder{v: New(c), from: from, tok: &token{}}
	d.v.seq = seq
	d.v.shared = &shared{columns: d.v.shared.columns}
	pages, err := d.first()
	if err != nil {
		return nil, err
	}
	d.prepare()
	if err := d.inParallel(pages); err != nil {
		return nil, err
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d.v, nil
}

type decoder struct {
	v    *Version
	from Chunks
	tok  *token // of what is decoded; no editor has it
	// What the meta chunk says.
	nodes, edges          uint32 // slots
	nodeCount, doomed     int64
	edgeCount             int64
	sets, strings         int
	nodePages, edgePages  atomic.Int64 // decoded so far
	aliveEdges, liveNodes atomic.Int64
	doomedNodes           atomic.Int64
	placing               sync.Mutex // held while a page is put in its place
	counted               bool       // the cells were there
	cellSum               int64      // of all of them
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSnapshot, fmt.Sprintf(format, args...))
}

// first decodes all that the pages refer to, and returns where those begin.
func (d *decoder) first() (int, error) {
	var buf []byte
	seen := byte(0)
	i := 0
	for ; i < d.from.Len() && d.from.Kind(i) < chunkNodes; i++ {
		kind := d.from.Kind(i)
		if kind < seen || kind == seen && kind < chunkNodeIDs || kind > seen+1 && seen < chunkStrings {
			return 0, bad("chunk %d is of kind %d, after kind %d", i, kind, seen)
		}
		seen = kind
		var err error
		if buf, err = d.from.Read(i, buf); err != nil {
			return 0, err
		}
		r := &reading{b: buf}
		switch kind {
		case chunkMeta:
			err = d.meta(r)
		case chunkLabels:
			d.labels(r)
		case chunkStrings:
			d.readStrings(r)
		case chunkNodeIDs:
			err = d.ids(r, &d.v.nodeIDs, d.nodes)
		case chunkEdgeIDs:
			err = d.ids(r, &d.v.edgeIDs, d.edges)
		}
		if err = errors.Join(err, r.err); err != nil {
			return 0, err
		}
	}
	if seen < chunkStrings || d.v.nodeIDs.n != d.nodes || d.v.edgeIDs.n != d.edges {
		return 0, bad("%d node ids and %d edge ids for %d and %d slots", d.v.nodeIDs.n, d.v.edgeIDs.n, d.nodes, d.edges)
	}
	return i, nil
}

func (d *decoder) meta(r *reading) error {
	var columns []string
	for n := r.count(1); n > 0; n-- {
		columns = append(columns, r.str())
	}
	nodes, edges := r.uint(), r.uint()
	d.nodeCount, d.edgeCount, d.doomed = int64(r.uint()), int64(r.uint()), int64(r.uint())
	if r.err == nil && !slices.Equal(columns, d.v.shared.columns) {
		return ErrColumns
	}
	if nodes > maxSlots || edges > maxSlots {
		return bad("%d nodes and %d edges are too many", nodes, edges)
	}
	d.nodes, d.edges = uint32(nodes), uint32(edges)
	sum, last := int64(0), int64(-1)
	for len(r.b) > 0 {
		t, n := r.uint(), r.uint()
		if r.err != nil || t >= maxNumber || int64(t) <= last || n > maxSlots {
			return bad("%d edges of type %d", n, t)
		}
		last = int64(t)
		sum += int64(n)
		d.v.typeCounts.set(uint32(t), &typeCount{n: int64(n)}, d.tok)
	}
	if sum != d.edgeCount {
		return bad("the edges by type are %d, all together %d", sum, d.edgeCount)
	}
	return nil
}

// maxNumber bounds numbers of labels and types, which are dense: a hostile file
// must not ask for all memory.
const maxNumber = 1 << 24

func (d *decoder) labels(r *reading) {
	for len(r.b) > 0 && r.err == nil {
		set := []value.LabelID{}
		last := uint64(0)
		for n := r.count(1); n > 0; n-- {
			l := r.uint()
			if l <= last || l >= maxNumber {
				r.fail()
			}
			last = l
			set = append(set, value.LabelID(l))
		}
		if n := d.v.shared.internLabels(set); int(n) != d.sets {
			r.fail()
		}
		d.sets++
	}
	if d.sets == 0 || len(d.v.shared.sets.at(0)) != 0 {
		r.fail()
	}
}

func (d *decoder) readStrings(r *reading) {
	for len(r.b) > 0 && r.err == nil {
		n, ok := d.v.shared.internString(r.str())
		if !ok || int(n) != d.strings {
			r.fail()
		}
		d.strings++
	}
}

// ids appends pages of ids to a map.
func (d *decoder) ids(r *reading, m *idMap, limit uint32) error {
	for len(r.b) > 0 && r.err == nil {
		page := r.u32()
		p := &rankPage{owner: d.tok, base: m.n}
		for i := range p.words {
			p.words[i] = r.u64()
		}
		if r.err != nil {
			break
		}
		if page >= maxID>>idBits || m.n > 0 && uint64(page) <= m.last>>idBits || page == 0 && p.words[0]&1 != 0 {
			return bad("ids of page %d after id %d", page, m.last)
		}
		if !m.load(page, p, limit, d.tok) {
			return bad("more than %d ids, or a page without any", limit)
		}
	}
	return nil
}

// load appends a page of ids with its bitmap filled in. It reports false when
// there are more than limit ids or none in the page.
func (m *idMap) load(page uint32, p *rankPage, limit uint32, tok *token) bool {
	before := m.n
	for w, word := range p.words {
		p.rank[w] = uint16(m.n - before)
		for bit := uint64(0); word>>bit != 0 && bit < 64; bit++ {
			if word>>bit&1 == 0 {
				continue
			}
			id := uint64(page)<<idBits | uint64(w)<<6 | bit
			if m.n >= limit {
				return false
			}
			if m.n == 0 {
				m.first = id
			}
			if m.n == m.dense && word == ^uint64(0) && bit == 0 && limit-m.n >= 64 && (m.n == 0 || id == m.first+uint64(m.n)) {
				m.n, m.dense, m.last = m.n+64, m.dense+64, id+63
				break
			}
			if m.n == m.dense && id == m.first+uint64(m.n) {
				m.dense++
			} else {
				m.setSlotID(m.n, id, tok)
			}
			m.n, m.last = m.n+1, id
		}
	}
	m.byID.set(page, p, tok)
	return m.n > before
}

// prepare makes the directories of all pages, so that pages can be put in by
// several goroutines.
func (d *decoder) prepare() {
	d.v.nodes.room(pagesFor(d.nodes, nodeBits), d.tok)
	d.v.edges.room(pagesFor(d.edges, edgeBits), d.tok)
	d.v.segs.room(pagesFor(d.nodes, segBits), d.tok)
}

// room makes directories for n pages.
func (v *vec[P]) room(n uint32, tok *token) {
	v.dirs, v.owner = make([]*dir[P], pagesFor(n, dirBits)), tok
	for i := range v.dirs {
		v.dirs[i] = &dir[P]{owner: tok}
	}
}

// fresh puts a page in a place that has none. The lock is for files that hold a
// page twice: two goroutines may come upon it.
func (v *vec[P]) fresh(placing *sync.Mutex, i uint32, p *P) bool {
	placing.Lock()
	defer placing.Unlock()
	dir := v.dirs[i>>dirBits]
	if dir.pages[i&dirMask] != nil {
		return false
	}
	dir.pages[i&dirMask] = p
	return true
}

// inParallel decodes the pages from chunk first on.
func (d *decoder) inParallel(first int) error {
	var next atomic.Int64
	next.Store(int64(first))
	workers := min(2, runtime.GOMAXPROCS(0), max(1, d.from.Len()-first))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = d.work(&next) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// work decodes chunks until none is left. Each chunk is decoded once.
func (d *decoder) work(next *atomic.Int64) error {
	var buf []byte
	for {
		i := int(next.Add(1) - 1)
		if i >= d.from.Len() {
			return nil
		}
		var err error
		if buf, err = d.from.Read(i, buf); err == nil {
			err = d.chunk(d.from.Kind(i), &reading{b: buf})
		}
		if err != nil {
			next.Store(int64(d.from.Len())) // the others need not go on
			return err
		}
	}
}

func (d *decoder) chunk(kind byte, r *reading) error {
	switch kind {
	case chunkNodes:
		d.nodeChunk(r)
	case chunkEdges:
		d.edgeChunk(r)
	case chunkSegments:
		for len(r.b) > 0 && r.err == nil {
			d.segment(r)
		}
	case chunkCells:
		d.cells(r)
	default:
		return bad("a chunk of kind %d", kind)
	}
	return r.err
}

// finish compares what was decoded with the counts, and makes the label sets,
// which follow from the nodes.
func (d *decoder) finish() error {
	v := d.v
	if n := d.nodePages.Load(); n != int64(pagesFor(d.nodes, nodeBits)) {
		return bad("%d pages of nodes", n)
	}
	if n := d.edgePages.Load(); n != int64(pagesFor(d.edges, edgeBits)) {
		return bad("%d pages of edges", n)
	}
	if n := d.liveNodes.Load(); n != d.nodeCount || d.doomedNodes.Load() != d.doomed {
		return bad("%d nodes are alive and %d deleted with edges, the counts are %d and %d", n, d.doomedNodes.Load(), d.nodeCount, d.doomed)
	}
	if n := d.aliveEdges.Load(); d.doomed == 0 && n != d.edgeCount || n < d.edgeCount {
		return bad("%d edges are stored, the count is %d", n, d.edgeCount)
	}
	if n := d.aliveEdges.Load(); d.counted && n != d.cellSum {
		return bad("%d edges are stored, by labels they are %d", n, d.cellSum)
	}
	v.nodeCount, v.edgeCount, v.doomedCount = d.nodeCount, d.edgeCount, int(d.doomed)
	v.fillLabels(d.tok)
	if !d.counted {
		v.recount(d.tok)
	}
	return nil
}

// cells decodes the numbers of edges by labels. The sum of all is compared in
// finish; what else may be wrong with them makes estimates worse.
func (d *decoder) cells(r *reading) {
	d.placing.Lock()
	defer d.placing.Unlock()
	m := &d.v.cells
	if d.counted || len(r.b) == 0 {
		r.fail()
		return
	}
	d.counted = true
	m.full = r.byte() != 0
	last := cellKey{}
	for len(r.b) > 0 && r.err == nil {
		typ, src, dst, n := r.uint(), r.uint(), r.uint(), r.uint()
		k := cellKey{uint32(typ), uint32(src), uint32(dst)}
		other := src == otherSet && dst == otherSet && m.full
		if typ == 0 || typ >= maxNumber || !other && max(src, dst) >= uint64(d.sets) || n == 0 || n > maxSlots || k.compare(last) <= 0 {
			r.fail()
			return
		}
		last = k
		m.push(cell{k, int64(n)}, d.tok)
		d.cellSum += int64(n)
	}
}

// reading reads a chunk front to back. After the first failure it returns zeros.
type reading struct {
	b   []byte
	err error
}

func (r *reading) fail() {
	if r.err == nil {
		r.err = bad("a chunk ends too early or holds what cannot be")
	}
	r.b = nil
}

func (r *reading) take(n int) []byte {
	if n > len(r.b) || r.err != nil {
		r.fail()
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reading) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reading) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reading) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reading) uint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || r.err != nil {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return x
}

// count reads a number of items of at least size bytes each.
func (r *reading) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reading) str() string { return string(r.take(r.count(1))) }

// u32s fills out and reports the largest number read. It goes four at a time,
// with a maximum for each place, so that none waits for the one before it.
func (r *reading) u32s(out []uint32) uint32 {
	b := r.take(4 * len(out))
	if b == nil {
		return 0
	}
	var m0, m1, m2, m3 uint32
	for len(out) >= 4 && len(b) >= 16 {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		a0, a1, a2, a3 := uint32(x), uint32(x>>32), uint32(y), uint32(y>>32)
		out[0], out[1], out[2], out[3] = a0, a1, a2, a3
		m0, m1, m2, m3 = max(m0, a0), max(m1, a1), max(m2, a2), max(m3, a3)
		out, b = out[4:], b[16:]
	}
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
		m0 = max(m0, out[i])
	}
	return max(m0, m1, m2, m3)
}

package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph/internal/store"
)

// model is what a store should hold.
type model [store.SpaceCount]map[string]string

func newModel() (m model) {
	for i := range m {
		m[i] = map[string]string{}
	}
	return m
}

// change makes a commit: puts of all sizes, some of them at the end, and removals of
// single keys and of whole ranges, so that pages split, merge and go.
func (m model) change(random *rand.Rand, seq store.Seq) store.Batch {
	b := store.Batch{Seq: seq}
	for _, space := range []store.Space{store.Nodes, store.Index, store.Log} {
		changed := map[string]bool{}
		put := func(key string, value []byte) {
			if changed[key] {
				return
			}
			changed[key] = true
			b.Puts = append(b.Puts, store.Put{Space: space, Key: []byte(key), Value: value})
			if value == nil {
				delete(m[space], key)
			} else {
				m[space][key] = string(value)
			}
		}
		keys := slices.Sorted(maps.Keys(m[space]))
		if len(keys) > 20 && random.IntN(3) == 0 {
			from := random.IntN(len(keys))
			for _, k := range keys[from:min(len(keys), from+random.IntN(len(keys)/3+1))] {
				put(k, nil)
			}
		}
		for range random.IntN(12) {
			if len(keys) > 0 {
				put(keys[random.IntN(len(keys))], nil)
			}
		}
		for range random.IntN(60) {
			key := fmt.Sprintf("%08d", seq*100+store.Seq(random.IntN(100)))
			if space == store.Log {
				key = "l" + key // no key is in two spaces
			}
			if space == store.Index {
				key = fmt.Sprintf("%x", random.Uint64N(1<<20))
				if random.IntN(20) == 0 {
					key += string(make([]byte, random.IntN(3000)))
				}
			}
			size := random.IntN(60)
			if random.IntN(15) == 0 {
				size = random.IntN(9000)
			}
			put(key, bytes.Repeat([]byte{byte(seq)}, size))
		}
	}
	return b
}

// hold compares all of a store with the model. With errors allowed, it may refuse,
// but not answer wrongly; it returns an error that it met.
func (m model) hold(d *Driver, probes []string) (problem string, met error) {
	r, err := d.Snapshot()
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	for space := range store.SpaceCount {
		var last string
		n := 0
		err := r.Scan(space, nil, nil, func(k, v []byte) bool {
			if want, ok := m[space][string(k)]; !ok || want != string(v) || n > 0 && string(k) <= last {
				problem = fmt.Sprintf("a scan gives %x in space %d", k, space)
			}
			last = string(k)
			n++
			return problem == ""
		})
		if err == nil && problem == "" && n != len(m[space]) {
			problem = fmt.Sprintf("a scan gives %d keys instead of %d in space %d", n, len(m[space]), space)
		}
		if err != nil {
			met = err
		}
		for _, key := range probes {
			want, there := m[space][key]
			found, err := r.Get(space, []byte(key))
			if err == nil && found == nil {
				err = r.(store.Prover).Around(space, []byte(key), func(k, _ []byte) error {
					if string(k) == key {
						return store.ErrDamaged
					}
					return nil
				})
			}
			if err != nil {
				met = err
			} else if (found != nil) != there || string(found) != want {
				problem = fmt.Sprintf("looking %x up in space %d gives %.20x; it should be there: %v", key, space, found, there)
			}
		}
		if problem != "" {
			return problem, met
		}
	}
	return "", met
}

func (m model) keys() (keys []string) {
	for _, space := range m {
		for k := range space {
			keys = append(keys, k, k+"0")
		}
	}
	slices.Sort(keys)
	return keys
}

// history makes a store by many commits.
func history(t *testing.T, commits int, seed uint64) (path string, m model, roots Roots, seq store.Seq) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "graph.db")
	if err := Create(path, nil); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	m = newModel()
	for int(seq) < commits {
		d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: roots})
		if err != nil {
			t.Fatalf("after %d commits: %v", seq, err)
		}
		for range 1 + random.IntN(20) {
			seq++
			if outcome, err := d.Apply(seq-1, []store.Batch{m.change(random, seq)}); outcome != store.Committed {
				t.Fatalf("commit %d: %v, %v", seq, outcome, err)
			}
		}
		if problem, err := m.hold(d, nil); problem != "" || err != nil {
			t.Fatalf("after %d commits: %s, %v", seq, problem, err)
		}
		if err := d.Check(func(p string) { t.Fatalf("after %d commits: %s", seq, p) }); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if random.IntN(4) > 0 { // else all of the file is read
			roots = d.Roots()
		} else {
			roots = Roots{}
		}
	}
	if roots, err := ReadRoots(path); err != nil {
		t.Fatal(err)
	} else {
		return path, m, roots, seq
	}
	return path, m, roots, seq
}

// TestSoundPagesRaiseNoAlarm: what is taken for granted of bbolt's pages holds
// through splits, merges and reopening.
func TestSoundPagesRaiseNoAlarm(t *testing.T) {
	for seed := range uint64(3) {
		path, m, roots, _ := history(t, 150, seed)
		for _, known := range []Roots{roots, {}} {
			d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: known, ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if problem, err := m.hold(d, m.keys()); problem != "" || err != nil {
				t.Errorf("seed %d: %s, %v", seed, problem, err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// structure lists the bytes of a file that tell where things are: headers and
// elements of tree pages, keys of branches, buckets, and the list of free pages.
func structure(t *testing.T, content []byte) (offsets []int) {
	t.Helper()
	_, m := newestMeta(t, content)
	w := walkFile(bytes.NewReader(content), m, func(p string) { t.Fatal(p) })
	for id := 2; id < len(w.use); id++ {
		data := page(content, id)
		if w.use[id] != used || binary.NativeEndian.Uint64(data) != uint64(id) {
			continue // free, or behind another one
		}
		p := parseTree(data)
		end := pageHeaderSize + p.count*elementSize
		switch {
		case uint64(id) == m.freelist:
			end = pageHeaderSize + 8*p.count
		case !p.leaf || uint64(id) == m.root && !inlineRecords(p):
			start, key, value := p.element(p.count - 1)
			end = min(start+key+value, len(data))
		default:
			end -= 8 // how long the last key and value are only their checksum tells
		}
		for i := range end {
			offsets = append(offsets, id*4096+i)
		}
	}
	return offsets
}

// inlineRecords tells whether records are inside of the root page.
func inlineRecords(p treePage) bool {
	for i := range p.count {
		if value := p.value(i); !bytes.Equal(p.key(i), headerBucket) && len(value) > bucketHeader+pageHeaderSize {
			return true
		}
	}
	return false
}

// TestNoFlipOfStructureGivesAWrongAnswer: whatever bit of a page's structure is
// flipped, nothing is found that is not there and nothing is missed, in a store
// opened by its roots or by reading all of it.
func TestNoFlipOfStructureGivesAWrongAnswer(t *testing.T) {
	path, m, roots, seq := history(t, 40, 9)
	sound := read(t, path)
	offsets := structure(t, sound)
	probes := m.keys()
	random := rand.New(rand.NewPCG(4, 4))
	rounds := 400
	switch {
	case os.Getenv("ENGRAM_LONG") != "":
		rounds = 100_000
	case testing.Short():
		rounds = 150
	}
	silent := 0
	for round := range rounds {
		at, bit := offsets[random.IntN(len(offsets))], byte(1)<<random.IntN(8)
		content := bytes.Clone(sound)
		content[at] ^= bit
		overwrite(t, path, content)
		known := roots
		if round%4 == 0 {
			known = Roots{}
		}
		d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: known, ReadOnly: true})
		if err != nil {
			continue
		}
		random.Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
		problem, met := m.hold(d, probes[:100])
		if known == roots && d.OpenedAt() != seq {
			problem = fmt.Sprintf("it is at seq %d instead of %d", d.OpenedAt(), seq)
		}
		if problem != "" {
			t.Errorf("page %d, byte %d, bit %#x: %s", at/4096, at%4096, bit, problem)
		}
		if met == nil {
			if silent++; silent > 1+rounds/100 { // a page that was not needed
				t.Errorf("page %d, byte %d, bit %#x: nothing was noticed, %d times now", at/4096, at%4096, bit, silent)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAFlipToAnOldVersionOfAPage: behind each page lies an old version of it, one
// key shorter, a power of two further on and free, so that a single bit of what
// leads to a page leads to its old version.
func TestAFlipToAnOldVersionOfAPage(t *testing.T) {
	path, m, _, _ := history(t, 10, 5)
	content := read(t, path)
	n, meta := newestMeta(t, content)
	w := walkFile(bytes.NewReader(content), meta, func(p string) { t.Fatal(p) })
	step := uint64(1)
	for step < meta.pages {
		step *= 2
	}
	content = append(content[:meta.pages*4096], make([]byte, (2*step-meta.pages)*4096)...)
	var free []uint64
	for id := uint64(2); id < 2*step; id++ {
		if id >= meta.pages || w.use[id] != used {
			free = append(free, id)
		}
	}
	for id := uint64(2); id < meta.pages; id++ {
		old := page(content, int(id+step))
		copy(old, page(content, int(id)))
		if binary.NativeEndian.Uint64(old) == id {
			binary.NativeEndian.PutUint64(old, id+step)
			shorten(old)
		}
	}
	list := page(content, int(meta.freelist))
	clear(list[pageHeaderSize:])
	if len(free) > (4096-pageHeaderSize)/8 {
		t.Fatalf("%d free pages do not fit the list", len(free))
	}
	binary.NativeEndian.PutUint16(list[10:], uint16(len(free)))
	for i, id := range free {
		binary.NativeEndian.PutUint64(list[pageHeaderSize+8*i:], id)
	}
	header := page(content, n)
	binary.NativeEndian.PutUint64(header[pageHeaderSize+40:], 2*step)
	rechecksum(header)
	overwrite(t, path, content)
	roots, err := ReadRoots(path)
	if err != nil {
		t.Fatal(err)
	}
	probes := m.keys()
	flips := 0
	ask := func(at int) {
		number := binary.NativeEndian.Uint64(content[at:])
		binary.NativeEndian.PutUint64(content[at:], number+step)
		overwrite(t, path, content)
		binary.NativeEndian.PutUint64(content[at:], number)
		flips++
		for _, known := range []Roots{roots, {}} {
			d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: known, ReadOnly: true})
			if err != nil {
				continue
			}
			if problem, met := m.hold(d, probes); problem != "" || met == nil {
				t.Errorf("page %d, byte %d: %s, %v", at/4096, at%4096, problem, met)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for id := uint64(2); id < meta.pages; id++ {
		p := parseTree(page(content, int(id)))
		if w.use[id] != used || binary.NativeEndian.Uint64(p.data) != id || id == meta.freelist {
			continue
		}
		for i := range p.count {
			if !p.leaf && binary.NativeEndian.Uint16(p.data[8:]) == branchPage {
				ask(int(id)*4096 + pageHeaderSize + i*elementSize + 8)
			} else if id == meta.root {
				if start, key, size := p.element(i); size == bucketHeader {
					ask(int(id)*4096 + start + key)
				}
			}
		}
	}
	if flips < 20 {
		t.Fatalf("%d page numbers were changed; want more", flips)
	}
}

// TestAPageThatLeadsElsewhere: branches lead to a neighbour's page, or past the next
// branch to the first page below it, which begins with the same key.
func TestAPageThatLeadsElsewhere(t *testing.T) {
	path, m, roots, _ := history(t, 60, 13)
	content := read(t, path)
	_, meta := newestMeta(t, content)
	w := walkFile(bytes.NewReader(content), meta, func(p string) { t.Fatal(p) })
	probes := m.keys()
	beside, past := 0, 0
	ask := func(at int, id uint64) {
		number := binary.NativeEndian.Uint64(content[at:])
		binary.NativeEndian.PutUint64(content[at:], id)
		overwrite(t, path, content)
		binary.NativeEndian.PutUint64(content[at:], number)
		d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: roots, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time all pages have been verified that can be
			if problem, met := m.hold(d, probes); problem != "" || met == nil {
				t.Errorf("page %d leads to page %d: %s, %v", at/4096, id, problem, met)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for id := uint64(2); id < meta.pages; id++ {
		p := parseTree(page(content, int(id)))
		if w.use[id] != used || binary.NativeEndian.Uint64(p.data) != id || binary.NativeEndian.Uint16(p.data[8:]) != branchPage {
			continue
		}
		for i := range p.count {
			at := int(id)*4096 + pageHeaderSize + i*elementSize + 8
			if i > 0 && i%7 == 1 {
				ask(at, p.child(i-1))
				beside++
			}
			if below := parseTree(page(content, int(p.child(i)))); !below.leaf {
				ask(at, below.child(0))
				past++
			}
		}
	}
	if beside < 10 || past < 2 {
		t.Fatalf("%d and %d page numbers were changed; want more", beside, past)
	}
}

// TestTheSeqIsProtected: with the roots known, a file whose header was changed is
// refused.
func TestTheSeqIsProtected(t *testing.T) {
	path, _, roots, seq := history(t, 20, 3)
	content := read(t, path)
	_, meta := newestMeta(t, content)
	at := bytes.Index(page(content, int(meta.root)), append(bytes.Clone(seqKey), encodeSeq(seq)...))
	if at < 0 {
		t.Fatal("the seq is not in the root page")
	}
	for bit := range 64 {
		content[int(meta.root)*4096+at+len(seqKey)+bit/8] ^= 1 << (bit % 8)
		overwrite(t, path, content)
		content[int(meta.root)*4096+at+len(seqKey)+bit/8] ^= 1 << (bit % 8)
		if d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: roots}); err == nil {
			t.Errorf("with bit %d of the seq changed it opens, at seq %d", bit, d.OpenedAt())
			_ = d.Close()
		}
	}
}

// shorten takes the last element from a page that has more than one.
func shorten(data []byte) {
	p := parseTree(data)
	if kind := binary.NativeEndian.Uint16(data[8:]); kind != leafPage && kind != branchPage || p.count < 2 || binary.NativeEndian.Uint32(data[12:]) > 0 {
		return
	}
	start, key, value := p.element(p.count - 1)
	copy(data[pageHeaderSize+(p.count-1)*elementSize:], data[pageHeaderSize+p.count*elementSize:start])
	clear(data[start-elementSize : start+key+value])
	binary.NativeEndian.PutUint16(data[10:], uint16(p.count-1))
	at := 0
	if p.leaf {
		at = 4
	}
	for i := range p.count - 1 {
		e := data[pageHeaderSize+i*elementSize+at:]
		binary.NativeEndian.PutUint32(e, binary.NativeEndian.Uint32(e)-elementSize)
	}
}

// TestADamagedPageIsNotMadeSound: a commit that would read a damaged page and write
// it anew is refused, and nothing is lost in silence.
func TestADamagedPageIsNotMadeSound(t *testing.T) {
	path, m, roots, seq := history(t, 60, 11)
	sound := read(t, path)
	_, meta := newestMeta(t, sound)
	leaves := 0
	walk := walkFile(bytes.NewReader(sound), meta, func(p string) { t.Fatal(p) })
	for id := 2; id < len(walk.use); id++ {
		p := parseTree(page(sound, id))
		if walk.use[id] != used || !p.leaf || p.count < 4 || uint64(id) == meta.root || binary.NativeEndian.Uint64(p.data) != uint64(id) {
			continue
		}
		if leaves++; leaves%8 != 0 {
			continue
		}
		content := bytes.Clone(sound)
		binary.NativeEndian.PutUint16(page(content, id)[10:], uint16(p.count-2))
		overwrite(t, path, content)
		d, err := Open(path, &Options{MaxSize: MinMaxSize, Roots: roots})
		if err != nil {
			t.Fatal(err)
		}
		key := bytes.Clone(p.key(0))
		for space := range m {
			if _, there := m[space][string(key)]; !there {
				continue
			}
			for _, value := range [][]byte{{1}, nil} {
				outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: []store.Put{{Space: store.Space(space), Key: key, Value: value}}}})
				if outcome != store.Failed || err == nil {
					t.Errorf("page %d: a commit is %v, %v; want it refused", id, outcome, err)
				}
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(page(read(t, path), id), page(content, id)) {
			t.Errorf("page %d was changed", id)
		}
	}
	if leaves < 8 {
		t.Fatalf("%d leaves; want more", leaves)
	}
}

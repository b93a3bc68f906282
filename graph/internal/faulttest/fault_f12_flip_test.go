package faulttest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
	"engram/graph/value"
)

// What becomes of a damaged database, from best to worst.
const (
	refused = "refused" // not opened, with a reason
	noticed = "noticed" // reading or check names it
	silent  = "silent"  // all that is read is right, and nothing is noticed
	wrong   = "wrong"   // something wrong is given as right
)

// examine opens a damaged copy of the database at transaction n of seed, reads all
// of it and says what became of it.
func examine(dir string, m *workload.Model, readOnly bool) (verdict, detail string) {
	h, err := openWith(dir, false, graph.DataOptions{ReadOnly: readOnly}, workload.Options())
	if err != nil {
		if code := graph.CodeOf(err); code == graph.Internal {
			return wrong, "opening gives no reason: " + err.Error()
		}
		return refused, err.Error()
	}
	defer func() { _ = h.close() }()
	tx, err := h.Snapshot()
	if err != nil {
		return noticed, err.Error()
	}
	defer tx.Rollback()
	verdict = silent
	note := func(err error) {
		if err != nil && verdict != wrong {
			verdict, detail = noticed, err.Error()
		}
	}
	lines, err := workload.Lines(tx)
	note(err)
	if err == nil {
		if want := m.Lines(); !slices.Equal(lines, want) {
			return wrong, "content: " + firstDifference(lines, want)
		}
	}
	for _, id := range append(m.IDs(), "not there") {
		found, err := tx.NodesByID(value.String(id), nil)
		note(err)
		if err != nil {
			continue
		}
		if (len(found) == 1) != (id != "not there") {
			return wrong, fmt.Sprintf("%d nodes have the id %q", len(found), id)
		}
		if len(found) == 1 {
			e, err := tx.ElementID(found[0])
			note(err)
			if err == nil && e != id {
				return wrong, fmt.Sprintf("the id %q finds %q", id, e)
			}
		}
	}
	note(checked(h.DB))
	return verdict, detail
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("%.100q instead of %.100q", append(slices.Clone(got), "")[min(i, len(got))], append(slices.Clone(want), "")[min(i, len(want))])
		}
	}
	return ""
}

// childDamage reads lines "SEED N READONLY DIR" and answers each with what examine
// says.
func childDamage([]string) error {
	in := bufio.NewScanner(os.Stdin)
	var m *workload.Model
	for in.Scan() {
		var seed uint64
		var n int
		var readOnly bool
		var dir string
		if _, err := fmt.Sscan(in.Text(), &seed, &n, &readOnly, &dir); err != nil {
			return err
		}
		for m == nil || m.Done() < n {
			if m == nil {
				m = workload.New(seed)
			}
			m.Next()
		}
		verdict, detail := examine(dir, m, readOnly)
		fmt.Println(verdict, oneLine(detail))
	}
	return in.Err()
}

// damager asks a child about damaged databases; one that dies is wrong.
type damager struct{ verifier }

func (d *damager) ask(seed uint64, n int, readOnly bool, dir string) (verdict, detail string) {
	if d.cmd == nil {
		if err := d.start("damage"); err != nil {
			return wrong, err.Error()
		}
	}
	if _, err := fmt.Fprintln(d.in, seed, n, readOnly, dir); err != nil {
		return wrong, err.Error()
	}
	answer, err := d.answer()
	if err != nil {
		return wrong, fmt.Sprintf("%.1500s", err)
	}
	verdict, detail, _ = strings.Cut(answer, " ")
	return verdict, detail
}

const (
	damageSeed = 21
	damageTx   = 250
)

// quiet are options of a database that does nothing but what it is told, at a time
// that stands still.
func quiet() *graph.Options {
	o := workload.Options()
	o.HubEdges, o.SnapshotBytes, o.TrimEntries = 1<<40, 1<<40, 1<<40
	o.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	o.Random = bytes.NewReader(make([]byte, 8))
	return o
}

// fixed makes a populated database whose graph.db is the same in each run.
func fixed(t *testing.T, base string) {
	t.Helper()
	populateWith(t, base, damageSeed, damageTx, quiet())
	data, err := graph.OpenData(base, graph.DataOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = data.Compact(t.Context(), graphName)
	if err := errors.Join(err, data.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file(base, "graph.db"))
	if err != nil {
		t.Fatal(err)
	}
	content := canonical(raw)
	if err := errors.Join(os.WriteFile(file(base, "graph.db"), content, 0o600), os.Remove(file(base, "seq"))); err != nil {
		t.Fatal(err)
	}
	h, err := open(base, false, quiet()) // makes the side file anew
	if err == nil {
		err = h.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(file(base, "graph.db")); err != nil || !bytes.Equal(raw, content) {
		t.Fatalf("opening changed the file: %v", err)
	}
}

// damaged makes a populated database and returns a function that copies it, with
// its graph file changed by damage, and asks what becomes of it.
func damaged(t *testing.T) (base string, ask func(readOnly bool, damage func(path string) error) (verdict, detail string)) {
	t.Helper()
	base = filepath.Join(fastDir(t), "base")
	populate(t, base, damageSeed, damageTx)
	return base, damaging(t, base)
}

func damaging(t *testing.T, base string) (ask func(readOnly bool, damage func(path string) error) (verdict, detail string)) {
	t.Helper()
	d := &damager{}
	t.Cleanup(func() { d.stop() })
	dir := base + "-copy"
	if err := sparseCopy(base, dir); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file(base, "graph.db"))
	if err != nil {
		t.Fatal(err)
	}
	stale := false
	ask = func(readOnly bool, damage func(path string) error) (string, string) {
		if stale { // the other files have followed the graph
			if err := errors.Join(os.RemoveAll(dir), sparseCopy(base, dir)); err != nil {
				t.Fatal(err)
			}
		} else if err := writeSparse(file(dir, "graph.db"), good); err != nil {
			t.Fatal(err)
		}
		stale = !readOnly
		if err := damage(file(dir, "graph.db")); err != nil {
			t.Fatal(err)
		}
		before := hash(t, file(dir, "graph.db"))
		verdict, detail := d.ask(damageSeed, damageTx, readOnly, dir)
		if verdict == refused && hash(t, file(dir, "graph.db")) != before {
			t.Errorf("refused and changed: %s", detail)
		}
		return verdict, detail
	}
	for _, readOnly := range []bool{true, false, true} {
		if verdict, detail := ask(readOnly, func(string) error { return nil }); verdict != silent {
			t.Fatalf("undamaged, and %s: %s", verdict, detail)
		}
	}
	return ask
}

func hash(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return string(h.Sum(nil))
}

// sparseCopy is copyDir with holes for zeros.
func sparseCopy(from, to string) error {
	if err := copyDir(from, to); err != nil {
		return err
	}
	good, err := os.ReadFile(file(from, "graph.db"))
	if err != nil {
		return err
	}
	return writeSparse(file(to, "graph.db"), good)
}

// writeSparse replaces a file's content; blocks of zeros become holes.
func writeSparse(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = f.Truncate(int64(len(content)))
	var zeros [4096]byte
	for at := 0; at < len(content) && err == nil; at += 4096 {
		if part := content[at:min(at+4096, len(content))]; !bytes.Equal(part, zeros[:len(part)]) {
			_, err = f.WriteAt(part, int64(at))
		}
	}
	return errors.Join(err, f.Close())
}

// TestFaultF12BitFlips flips single bits in used bytes of a populated database: no
// read gives anything wrong, and all but a few are found by opening or by check,
// whether the database is opened for reading or for writing.
func TestFaultF12BitFlips(t *testing.T) {
	const foundAtLeast = .99
	base := filepath.Join(fastDir(t), "base")
	fixed(t, base)
	again := filepath.Join(fastDir(t), "again")
	fixed(t, again)
	if hash(t, file(base, "graph.db")) != hash(t, file(again, "graph.db")) {
		t.Error("the layout differs from run to run")
	}
	ask := damaging(t, base)
	spans, _ := usedBytes(t, file(base, "graph.db"))
	random := rand.New(rand.NewPCG(damageSeed, 0))
	n := sample(60, 600, 5000)
	verdicts := map[string]int{}
	var silents []string
	for i := range n {
		offset, bit := at(spans, random.Int64N(total(spans))), uint(random.IntN(8))
		readOnly := i%4 != 0
		verdict, detail := ask(readOnly, func(path string) error { return flip(path, offset, bit) })
		verdicts[verdict]++
		place := fmt.Sprintf("%s (read only: %v)", where(t, file(base, "graph.db"), offset, bit), readOnly)
		switch verdict {
		case wrong:
			t.Errorf("%s: %s", place, detail)
		case silent:
			silents = append(silents, place)
		}
	}
	t.Logf("%d flips in %d used bytes: %v; not found: %v", n, total(spans), verdicts, silents)
	if share := float64(n-len(silents)) / float64(n); share < foundAtLeast {
		t.Errorf("%.2f%% of the flips are found, want %.0f%%", 100*share, 100*foundAtLeast)
	}
}

// TestFaultF12MetaPages flips every byte of both meta pages.
func TestFaultF12MetaPages(t *testing.T) {
	base, ask := damaged(t)
	_, pageSize := usedBytes(t, file(base, "graph.db"))
	verdicts := map[string]int{}
	for _, start := range []int64{0, pageSize} {
		for i := int64(16); i < 16+64; i += int64(sample(8, 1, 1)) {
			verdict, detail := ask(true, func(path string) error { return flip(path, start+i, uint(i%8)) })
			verdicts[verdict]++
			if verdict == wrong || verdict == silent {
				t.Errorf("byte %d of the meta page at %d: %s %s", i, start, verdict, detail)
			}
		}
	}
	t.Logf("%v", verdicts)
}

// TestFaultF12Pages zeroes pages, swaps neighbours and puts one in another's place.
func TestFaultF12Pages(t *testing.T) {
	base, ask := damaged(t)
	spans, pageSize := usedBytes(t, file(base, "graph.db"))
	verdicts := map[string]int{}
	random := rand.New(rand.NewPCG(damageSeed, 2))
	for range sample(5, 30, 300) {
		a := spans[2+random.IntN(len(spans)-2)].from
		b := spans[2+random.IntN(len(spans)-2)].from
		if a == b {
			continue
		}
		for name, damage := range map[string]func(image []byte){
			"zeroed": func(image []byte) { clear(image[a : a+pageSize]) },
			"swapped": func(image []byte) {
				old := slices.Clone(image[a : a+pageSize])
				copy(image[a:a+pageSize], image[b:b+pageSize])
				copy(image[b:b+pageSize], old)
			},
			"copied": func(image []byte) { copy(image[a:a+pageSize], image[b:b+pageSize]) },
		} {
			verdict, detail := ask(true, func(path string) error {
				image, err := os.ReadFile(path)
				if err == nil {
					damage(image)
					err = writeSparse(path, image)
				}
				return err
			})
			verdicts[verdict]++
			if verdict == wrong || verdict == silent {
				t.Errorf("page at %d %s (%d): %s %s", a, name, b, verdict, detail)
			}
		}
	}
	t.Logf("%v", verdicts)
}

// TestFaultF11Truncated cuts the graph's file: it is refused with a reason and left
// as it is, or it is whole.
func TestFaultF11Truncated(t *testing.T) {
	base, ask := damaged(t)
	info, err := os.Stat(file(base, "graph.db"))
	if err != nil {
		t.Fatal(err)
	}
	spans, page := usedBytes(t, file(base, "graph.db"))
	end := spans[len(spans)-1].to
	lengths := map[int64]bool{0: true, 1: true, 4095: true, 4096: true, 8191: true, 8192: true, 8193: true, info.Size() / 2: true, info.Size() - 1: true, end / 2: true, end - 1: true}
	for _, s := range spans[2:] {
		if len(lengths) < sample(15, 40, 1000) {
			lengths[s.from-1], lengths[s.from], lengths[s.from+1] = true, true, true
		}
	}
	verdicts := map[string]int{}
	for _, n := range slices.Sorted(maps.Keys(lengths)) {
		for _, readOnly := range []bool{true, false} {
			verdict, detail := ask(readOnly, func(path string) error { return os.Truncate(path, n) })
			verdicts[verdict]++
			if n < end-page && verdict != refused || verdict == wrong {
				t.Errorf("cut at %d: %s %s", n, verdict, detail)
			}
		}
	}
	t.Logf("%v", verdicts)
	t.Run("an empty file is no new database", func(t *testing.T) {
		if verdict, detail := ask(false, func(path string) error { return os.Truncate(path, 0) }); verdict != refused || !strings.Contains(detail, "empty") {
			t.Errorf("%s %s", verdict, detail)
		}
	})
}

package text

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"engram/graph/value"
)

// childEnv holds what a child process of the test binary is to do, and where.
const childEnv = "ENGRAM_TEXT_CHILD"

func TestMain(m *testing.M) {
	if job, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := map[string]func(string) error{"write": childWrite, "full": childFull}[job](dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(job, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+job+" "+dir)
	return cmd
}

// transaction returns what a seq did: always the same.
func transaction(seq uint64) []Doc {
	r := rand.New(rand.NewPCG(seq, 5))
	out := make([]Doc, 1+r.IntN(20))
	for i := range out {
		out[i].Node = value.NodeID(1 + r.IntN(300))
		if r.IntN(5) > 0 {
			text := ""
			for range 1 + r.IntN(8) {
				text += vocabulary[r.IntN(len(vocabulary))] + " "
			}
			out[i].Fields = []FieldText{{"content", text}}
		}
	}
	return out
}

// childWrite publishes for ever and tells each seq that is on disk.
func childWrite(dir string) error {
	o := manual(dir)
	o.FlushEvery, o.FlushDocs = time.Millisecond, 200
	ix, err := Open(o)
	if err != nil {
		return err
	}
	for told, seq := uint64(0), ix.AppliedSeq()+1; ; seq++ {
		ix.Publish(seq, transaction(seq))
		for ix.AppliedSeq()+500 < seq { // let it catch up
			time.Sleep(time.Millisecond)
		}
		if applied := ix.AppliedSeq(); applied != told {
			told = applied
			fmt.Println(applied)
		}
	}
}

// TestKilledWriterReplays kills a writer again and again. Each time the index is
// whole, at a seq not before the one it told, and equal to BM25 by the book there.
func TestKilledWriterReplays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	m := &naive{docs: map[value.NodeID]Doc{}}
	done := uint64(0)
	for round := range 5 {
		cmd := child("write", dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		told := uint64(0)
		lines := bufio.NewScanner(out)
		for n := 0; n < 2+3*round && lines.Scan(); n++ {
			if _, err := fmt.Sscan(lines.Text(), &told); err != nil {
				t.Fatalf("the child says %q", lines.Text())
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()

		ix := open(t, manual(dir))
		applied := ix.AppliedSeq()
		if applied < told {
			t.Fatalf("round %d: told %d, applied %d", round, told, applied)
		}
		for ; done < applied; done++ {
			for _, d := range transaction(done + 1) {
				m.apply(d)
			}
		}
		m.ix = ix
		compareAt(t, ix, m, "running crash")
		for s := applied + 1; s <= applied+3; s++ { // replaying what may be there already
			ix.Publish(s, transaction(s))
			for _, d := range transaction(s) {
				m.apply(d)
			}
			done = s
		}
		compareAt(t, ix, m, "café memory sunrise")
		must(t, ix.Close())
	}
}

func compareAt(t *testing.T, ix *Index, m *naive, query string) {
	t.Helper()
	v, err := ix.At(ix.PublishedSeq())
	must(t, err)
	got, err := v.Search(Query{Text: query, Limit: 1000})
	must(t, err)
	want := m.search(query, 1000, 10)
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Node != want[i].Node || got[i].Score != want[i].Score {
			t.Fatalf("hit %d: got %v want %v", i, got[i], want[i])
		}
	}
}

// childFull runs into a limit on the size of files, then lifts it.
func childFull(dir string) error {
	ix, err := Open(manual(dir))
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	m := &naive{ix, map[value.NodeID]Doc{}}
	fill := func(seq uint64) {
		docs := transaction(seq)
		ix.Publish(seq, docs)
		for _, d := range docs {
			m.apply(d)
		}
	}
	check := func(when string) error {
		v, err := ix.At(ix.PublishedSeq())
		if err != nil {
			return err
		}
		hits, err := v.Search(Query{Text: "run crash", Limit: 1000})
		if want := m.search("run crash", 1000, 10); err != nil || fmt.Sprint(hits) != fmt.Sprint(want) {
			return fmt.Errorf("%s: %d hits, want %d: %v", when, len(hits), len(want), err)
		}
		return nil
	}
	for seq := uint64(1); seq <= 50; seq++ {
		fill(seq)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: old.Max}); err != nil {
		return err
	}
	if err := ix.Flush(); err == nil || ix.Stats().LastError == nil {
		return fmt.Errorf("a flush to a full disk: %v", err)
	}
	fill(51)
	if err := check("while full"); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	fill(52)
	if err := ix.Flush(); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if err := check("with room again"); err != nil {
		return err
	}
	if ix.AppliedSeq() != 52 || ix.Stats().LastError != nil {
		return fmt.Errorf("applied %d: %v", ix.AppliedSeq(), ix.Stats().LastError)
	}
	return ix.Close()
}

// TestFullDisk lets writing fail and succeed again; nothing is lost in between.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	out, err := child("full", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ix := open(t, manual(dir))
	m := &naive{ix, map[value.NodeID]Doc{}}
	for seq := uint64(1); seq <= 52; seq++ {
		for _, d := range transaction(seq) {
			m.apply(d)
		}
	}
	compareAt(t, ix, m, "painting lake")
}

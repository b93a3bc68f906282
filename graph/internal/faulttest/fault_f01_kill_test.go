package faulttest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"engram/graph/internal/faulttest/powerloss"
)

// TestFaultF01Kill kills a writer at random times, again and again, over one
// growing database.
func TestFaultF01Kill(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := filepath.Join(t.TempDir(), "data")
	acked, begun := -1, -1
	v := &verifier{}
	defer v.stop()
	inside := 0
	rounds := sample(4, 15, 500)
	for round := range rounds {
		// Transactions get larger models as the database grows: start anew now and then.
		if acked > 400 {
			dir, acked, begun = filepath.Join(t.TempDir(), "data"), -1, -1
		}
		lines, wait := random.IntN(120), time.Duration(random.IntN(2000))*time.Microsecond
		if lines == 0 { // while it opens
			wait *= 50
		}
		out := killedAfter(t, job("write", dir, fmt.Sprint(seed), "100000"), lines, wait)
		a, b, rest := said(out)
		if bytes.Contains([]byte(rest), []byte("ERROR")) {
			t.Fatalf("round %d: the writer failed by itself: %s", round, rest)
		}
		acked, begun = max(acked, a), max(begun, b)
		if begun > acked {
			inside++
		}
		n, err := v.verify(dir, seed, acked, begun)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		acked, begun = max(acked, n), max(begun, n)
	}
	t.Logf("%d rounds, %d kills inside a transaction", rounds, inside)
	if inside == 0 {
		t.Error("no kill hit a transaction on its way")
	}
}

// killedAfter starts cmd, kills it once it has written so many lines, a moment later,
// and returns all that it wrote.
func killedAfter(t *testing.T, cmd *exec.Cmd, lines int, moment time.Duration) []byte {
	t.Helper()
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	r := bufio.NewReader(pipe)
	for ; lines > 0 && err == nil; lines-- {
		var line []byte
		line, err = r.ReadBytes('\n')
		out = append(out, line...)
	}
	<-time.After(moment)
	_ = cmd.Process.Kill()
	rest, _ := io.ReadAll(r)
	_ = cmd.Wait()
	return append(out, rest...)
}

// TestFaultF02KillAtEveryCall kills a writer after its nth call that changes the
// disk, for all n with ENGRAM_LONG: from an empty directory, and going on with an
// existing database. The kills are played from a log; the next test does real ones.
func TestFaultF02KillAtEveryCall(t *testing.T) {
	const seed = 12
	root := t.TempDir()
	for _, step := range []struct{ from, to int }{{-1, 30}, {30, 60}} {
		log := record(t, root, nil, "write", filepath.Join(root, "data"), fmt.Sprint(seed), fmt.Sprint(step.to))
		n := min(sample(20, 150, 1<<30), log.Events()+1)
		bad, first := states(t, &evidence{t: t, data: "data"}, "data", seed, step.from, func(yield func(*powerloss.State) bool) { log.Kills(n, yield) })
		if bad > 0 {
			t.Errorf("%d of %d kills on the way to transaction %d: %s", bad, n, step.to, first)
		}
	}
}

// killPoints are the calls that change the disk.
const killPoints = "write,pwrite64,fsync,fdatasync,ftruncate,renameat,unlinkat,mkdirat"

// TestFaultF02KillInsideACall has the kernel kill the writer as a thread of it
// enters its nth call of a kind.
func TestFaultF02KillInsideACall(t *testing.T) {
	need(t, "strace")
	const seed = 12
	v := &verifier{}
	defer v.stop()
	root := fastDir(t)
	for call := 1; ; call += sample(30, 12, 1) {
		dir := filepath.Join(root, fmt.Sprint(call))
		inject := fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", killPoints, call)
		cmd := command("write", "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+killPoints, "-e", inject,
			os.Args[0], dir, fmt.Sprint(seed), "30")
		out, err := cmd.Output()
		acked, begun, _ := said(out)
		if _, err := v.verify(dir, seed, acked, begun); err != nil {
			t.Fatalf("killed at call %d: %v", call, err)
		}
		if err == nil {
			t.Logf("no thread made %d calls of a kind", call)
			return
		}
	}
}

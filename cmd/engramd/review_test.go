package main

import (
	"bufio"
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"engram/chatbridge/gate"
)

// TestReview plans in one process that is killed while it asks, revises in another and
// approves in a third; a verdict follows. Silence, unknown words and the end of input
// are never a yes.
func TestReview(t *testing.T) {
	script, err := gate.ParseScenario([]byte(`{"scenarios": [
		{"marker": "ASK-PLAN", "steps": [{"text": "1. write a.txt"}]}, {"marker": "REVISE-IT", "steps": [{"text": "1. write b.txt"}]},
		{"marker": "The person approved", "steps": [{"calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "late"}}]}, {"text": "Done."}]},
		{"marker": "ASK-CHAIRS", "steps": [{"text": "{\"proposal\": \"900 chairs\", \"numbers\": {\"n\": 900}, \"reasoning\": \"more\"}"}]}, {"marker": "above 10", "steps": [{"text": "no"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gate.New(script, nil))
	defer server.Close()
	dir := t.TempDir()
	data, ws, rules := filepath.Join(dir, "data"), filepath.Join(dir, "ws"), filepath.Join(dir, "rules.json")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rules, []byte(`[{"number": "n", "max": "10"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	llm := []string{"--provider", "test", "--base-url", server.URL, "--model", "m", "--workspace", ws}
	engramd := func(in string, args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append([]string{"--data", data}, args...), strings.NewReader(in), &out, &errOut)
		if slips.MatchString(out.String() + errOut.String()) {
			t.Errorf("%q\n%s%s", args, out.String(), errOut.String())
		}
		return code, out.String(), errOut.String()
	}
	written := func(name string) bool { _, err := os.Stat(filepath.Join(ws, name)); return err == nil }

	cmd := exec.Command(os.Args[0], append([]string{"--data", data, "chat", "--plan", "ASK-PLAN"}, llm...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("\nyes\ny\nok\napprove please\nAPPROVED\nrevise\nrun it\n")); err != nil {
		t.Fatal(err)
	}
	for asked, r := 0, bufio.NewReader(stdout); asked < 9; asked++ { // once more than there are lines
		if said, err := r.ReadString('l'); err != nil {
			t.Fatalf("%q, error %v", said, err)
		} else if !strings.HasSuffix(said, "approve, revise WORDS, or l") {
			asked--
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	code, out, errOut := engramd("", "review")
	id := regexp.MustCompile(`plan-\S+`).FindString(out)
	if code != exitOK || id == "" || !strings.Contains(out, "8 revisions left  1. write a.txt\n") || written("a.txt") || written("b.txt") {
		t.Fatalf("after the kill: exit %d, %q, %q", code, out, errOut)
	}
	if code, out, _ := engramd("", "review", "show", id); code != exitOK || !strings.Contains(out, "A plan to review (8 revisions left, candidate cand-") {
		t.Errorf("show: exit %d, %q", code, out)
	}
	code, out, errOut = engramd("", append([]string{"review", "revise", id, "REVISE-IT", "with b"}, llm...)...)
	next := regexp.MustCompile(`plan-\S+-2`).FindString(out)
	if code != exitOK || next == "" || !strings.Contains(out, "Not answered: it waits. Go on with: engramd review show "+next) || !strings.Contains(out, "7 revisions left") {
		t.Fatalf("revise: exit %d, %q, %q", code, out, errOut)
	}
	if code, _, errOut := engramd("", append([]string{"review", "approve", id}, llm...)...); code != exitRefused || written("b.txt") {
		t.Errorf("the plan before: exit %d, %q", code, errOut)
	}
	if code, out, errOut := engramd("", append([]string{"review", "approve", next}, llm...)...); code != exitOK || !strings.HasSuffix(out, "Done.\n") || !written("b.txt") || written("a.txt") {
		t.Errorf("approve: exit %d, %q, %q", code, out, errOut)
	}
	if code, out, _ := engramd("", "review"); code != exitOK || out != "Nothing waits for a review.\n" {
		t.Errorf("afterwards: exit %d, %q", code, out)
	}
	if code, _, errOut := engramd("", append([]string{"chat", "--propose", rules, "ASK-CHAIRS"}, llm...)...); code != exitLimit || !strings.Contains(errOut, "the limit of 4 attempts is met: this would be 5; nothing was approved; a person was offered, never consulted") {
		t.Errorf("proposal: exit %d, %q", code, errOut)
	}

	_, out, _ = engramd("", "verdict")
	key := regexp.MustCompile(`cand-\S+`).FindString(out)
	if strings.Count(out, "not judged") != 2 || key == "" {
		t.Errorf("candidates: %q", out)
	}
	for _, args := range [][]string{{"approve", key}, {"approve", "--reason", "x"}, {"reject", key, "--reason", " "}, {"approve", "cand-none", "--reason", "x"}} {
		if code, _, errOut := engramd("", append([]string{"verdict"}, args...)...); code != exitRefused {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
	if code, out, errOut := engramd("", "verdict", "approve", key, "--reason", "it held"); code != exitOK || out != key+": approved\n" {
		t.Errorf("verdict: exit %d, %q, %q", code, out, errOut)
	}
	if code, out, _ := engramd("", "verdict", "list"); code != exitOK || !strings.Contains(out, "approved, in canonical memory: it held\n") {
		t.Errorf("verdicts: exit %d, %q", code, out)
	}
	for _, args := range [][]string{{"chat", "--plan", "--propose", rules, "x"}, {"chat", "--propose", filepath.Join(dir, "none"), "x"}} {
		if code, _, errOut := engramd("", append(args, llm...)...); code != exitUsage && code != exitNotFound {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
}

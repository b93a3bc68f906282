package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary run as engramd when it is set.
const asProgram = "ENGRAMD_TEST_RUN_AS_PROGRAM"

// programClock is the time at which that program's clock begins. Programs that are built
// otherwise do not read it.
const programClock = "ENGRAMD_TEST_CLOCK"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if begin, err := time.Parse(time.RFC3339, os.Getenv(programClock)); err == nil {
			started := time.Now()
			clock = func() time.Time { return begin.Add(time.Since(started)) }
		}
		os.Exit(process())
	}
	if program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); program != "engramd" { // not a script's command
		for _, kv := range os.Environ() {
			name, _, _ := strings.Cut(kv, "=")
			switch {
			case strings.HasPrefix(name, "ENGRAM_LONG"):
			case strings.HasPrefix(name, "ENGRAM_"), name == "ANTHROPIC_API_KEY", name == "OPENAI_API_KEY":
				os.Unsetenv(name)
			}
		}
	}
	testscript.Main(m, map[string]func(){
		"engramd": func() { os.Exit(process()) },
	})
}

// TestScript runs the scripts of the command line: what a user types and sees.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("ENGRAMD_TEST_UPDATE") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "flip": flip, "nodata": noData, "mkcrlf": makeCRLF},
	})
}

// exits CODE COMMAND ARGS... runs a command and asserts its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d; stderr:\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// flip FILE TEXT changes one bit of every occurrence of a text in a file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip file text")
	}
	name := ts.MkAbs(args[0])
	content, err := os.ReadFile(name)
	ts.Check(err)
	if !bytes.Contains(content, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	changed := []byte(args[1])
	changed[len(changed)/2] ^= 1
	ts.Check(os.WriteFile(name, bytes.ReplaceAll(content, []byte(args[1]), changed), 0o600))
}

// mkcrlf FROM TO writes a file as some Windows programs do: a byte order mark, CRLF.
func makeCRLF(ts *testscript.TestScript, _ bool, args []string) {
	text := "\ufeff" + strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// nodata fails if output shows how a program prints what it does not have, or a plural
// behind 1.
func noData(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range []string{"stdout", "stderr"} {
		if found := slips.FindString(ts.ReadFile(name)); found != "" {
			ts.Fatalf("%s shows %q", name, found)
		}
	}
}

var slips = regexp.MustCompile(`<nil>|%!|\bmap\[|0x[0-9a-f]{6,}|\b1 (memories|components|edges|names|nodes|rows|values|have|do)\b`)

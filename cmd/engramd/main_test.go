package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary run as engramd when it is set.
const asProgram = "ENGRAMD_TEST_RUN_AS_PROGRAM"

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == asProgram:
		case strings.HasPrefix(name, "ENGRAM_LONG"):
		case strings.HasPrefix(name, "ENGRAM_"), name == "ANTHROPIC_API_KEY", name == "OPENAI_API_KEY":
			os.Unsetenv(name)
		}
	}
	if os.Getenv(asProgram) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){
		"engramd": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScript runs the scripts of the command line: what a user types and sees.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("ENGRAMD_TEST_UPDATE") != ""})
}

package eval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/query/internal/eval"
	"engram/query/internal/fault"
)

// FuzzEval evaluates whatever parses and binds: no text may make it panic.
func FuzzEval(f *testing.F) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		env, _ := newEnv(t)
		steps, bytes := 0, int64(0)
		limit(env, &steps, &bytes)
		v, err := eval1(env, text)
		if err == nil {
			_ = v.String()
		}
	})
}

// limit gives an Env small budgets.
func limit(env *eval.Env, steps *int, bytes *int64) {
	full := func() error {
		return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted", "the test's budget is used up")
	}
	env.Step = func(n int) error {
		if *steps += n; *steps > 100_000 {
			return full()
		}
		return nil
	}
	env.Grow = func(n int64) error {
		if *bytes += n; *bytes > 16<<20 {
			return full()
		}
		return nil
	}
}

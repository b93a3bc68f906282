package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram"
	"engram/server"
)

func TestRegistryOpensEachNamespaceOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if _, err := server.OpenRegistry(path, server.RegistryOptions{}); !engram.IsCode(err, engram.CodeNotFound) {
		t.Fatalf("a missing directory: %v, want %s", err, engram.CodeNotFound)
	}
	r, err := server.OpenRegistry(path, server.RegistryOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open("b", false); !engram.IsCode(err, engram.CodeNotFound) {
		t.Errorf("a missing namespace: %v", err)
	}
	b, err := r.Open("b", true)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Open("b", false); err != nil || again != b {
		t.Errorf("the second opening gave another database, or %v", err)
	}
	if _, err := r.Open("a", true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open("No", true); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a wrong name: %v", err)
	}
	names, err := r.Names()
	if err != nil || strings.Join(names, " ") != "a b" {
		t.Errorf("names %q, %v", names, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Query(context.Background(), "RETURN 1", nil); !engram.IsCode(err, engram.CodeClosed) {
		t.Errorf("the database is usable after the registry's Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestRegistryReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	r, err := server.OpenRegistry(path, server.RegistryOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open("a", true); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // two readers at once
		r, err := server.OpenRegistry(path, server.RegistryOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		db, err := r.Open("a", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Query(context.Background(), "CREATE (n)", nil); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("writing: %v", err)
		}
		if _, err := r.Open("c", true); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("creating: %v", err)
		}
	}
}

func TestNamespaceFor(t *testing.T) {
	for text, want := range map[string]string{
		"conv-26":                "conv-26",
		"Trip 2024!":             "trip-2024",
		"--R&D (work)":           "r-d--work",
		"":                       "unnamed-e3b0c442",
		"Zoë":                    "zo-0000",
		"旅行":                     "unnamed-0000",
		"計画":                     "unnamed-0000",
		strings.Repeat("ab", 60): strings.Repeat("ab", 24) + "-0000",
	} {
		got := server.NamespaceFor(text)
		if err := engram.CheckNamespace(got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		stem, hash, hashed := strings.Cut(want, "-0000")
		if hashed && hash == "" {
			if rest := strings.TrimPrefix(got, stem+"-"); rest == got || len(rest) != 8 {
				t.Errorf("%q became %q, want %s and a hash", text, got, stem)
			}
			continue
		}
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if server.NamespaceFor("旅行") == server.NamespaceFor("計画") {
		t.Error("two names in another script became one namespace")
	}
}

// TestRegistryUnloads: namespaces that nobody uses are closed when they were idle, or
// when others need their place; those in use never are.
func TestRegistryUnloads(t *testing.T) {
	now := time.Unix(0, 0)
	r, err := server.OpenRegistry(filepath.Join(t.TempDir(), "data"), server.RegistryOptions{Create: true, MaxLoaded: 2, Idle: time.Minute, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range []string{"a", "b", "c", "d"} {
		if err := r.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Acquire("missing"); !engram.IsCode(err, engram.CodeNotFound) {
		t.Errorf("missing: %v", err)
	}
	a, release, err := r.Acquire("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "c", "d"} {
		now = now.Add(time.Second)
		_, done, err := r.Acquire(name)
		if err != nil {
			t.Fatal(err)
		}
		done()
		done() // again does nothing
	}
	if r.Loaded() != 2 {
		t.Errorf("%d are loaded, want a and d", r.Loaded())
	}
	now = now.Add(time.Hour)
	r.UnloadIdle()
	if _, err := a.Query(context.Background(), "RETURN 1", nil); err != nil || r.Loaded() != 1 {
		t.Errorf("in use: %v, %d are loaded", err, r.Loaded())
	}
	for what, err := range map[string]error{"drop": r.Drop("a"), "rename": r.Rename("a", "x"), "quota": r.SetQuota("a", 64<<20)} {
		if !engram.IsCode(err, engram.CodeAborted) {
			t.Errorf("%s of what is in use: %v", what, err)
		}
	}
	release()
	r.UnloadIdle()
	if r.Loaded() != 1 {
		t.Errorf("%d are loaded right behind its use", r.Loaded())
	}
	now = now.Add(time.Hour)
	r.UnloadIdle()
	if _, err := a.Query(context.Background(), "RETURN 1", nil); !engram.IsCode(err, engram.CodeClosed) || r.Loaded() != 0 {
		t.Errorf("idle: %v, %d are loaded", err, r.Loaded())
	}
	if err := r.Rename("a", "x"); err != nil {
		t.Error(err)
	}
	if err := r.Drop("b"); err != nil {
		t.Error(err)
	}
	if names, err := r.Names(); err != nil || strings.Join(names, " ") != "c d x" {
		t.Errorf("%v, %v", names, err)
	}
}

// TestRegistryQuota: a namespace's quota outlives the process, and is full at its
// bound.
func TestRegistryQuota(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	for range 2 {
		r, err := server.OpenRegistry(path, server.RegistryOptions{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Create("a"); err != nil && !engram.IsCode(err, engram.CodeExists) {
			t.Fatal(err)
		}
		if r.Quota("a") == 0 {
			if err := r.SetQuota("a", 32<<20); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		db, release, err := r.Acquire("a")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("x", 1<<20)
		for i := 0; i < 100 && err == nil; i++ {
			_, err = db.Query(context.Background(), "CREATE (:N {t: $t})", map[string]any{"t": text})
		}
		if !engram.IsCode(err, engram.CodeFull) {
			t.Errorf("100 MiB into 32 MiB: %v", err)
		}
		release()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the quota was forgotten")
}

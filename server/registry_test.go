package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

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

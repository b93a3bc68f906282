package token_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/server/token"
)

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := token.Open(dir, &token.Options{Now: func() time.Time { return now }})
	if _, ok := s.Lookup(""); ok {
		t.Error("nothing is a token where there is none")
	}
	root, err := s.Ensure()
	if err != nil || len(root) < 40 {
		t.Fatalf("%q, %v", root, err)
	}
	if again, err := s.Ensure(); err != nil || again != root {
		t.Errorf("made again: %q, %v", again, err)
	}
	secret, err := s.Create(token.Spec{Name: "notes", Scopes: []token.Scope{token.Write}, Namespaces: []string{"a"}, Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	other := token.Open(dir, &token.Options{Now: func() time.Time { return now }}) // another process
	who, ok := other.Lookup(secret)
	if !ok || who.Name != "notes" || !who.May(token.Read) || !who.May(token.Write) || who.May(token.Admin) || who.May(token.Chat) || !who.MayUse("a") || who.MayUse("b") {
		t.Errorf("%+v, %v", who, ok)
	}
	if r, ok := other.Lookup(root); !ok || !r.May(token.RunCommands) || !r.MayUse("b") {
		t.Errorf("%+v, %v", r, ok)
	}
	for _, name := range []string{"token", "tokens.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "tokens.json")); err != nil || strings.Contains(string(content), secret) {
		t.Errorf("the secret is kept: %s, %v", content, err)
	}
	now = now.Add(time.Hour)
	if _, ok := other.Lookup(secret); ok || other.Valid(who) {
		t.Error("an expired token works")
	}
	if list, err := s.List(); err != nil || len(list) != 1 || !list[0].Expired {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.Revoke("notes"); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke("notes"); err == nil {
		t.Error("revoked twice")
	}
	fresh, err := s.Create(token.Spec{Name: "notes", Scopes: []token.Scope{token.Read}})
	if err != nil {
		t.Fatal(err)
	}
	if i, ok := other.Lookup(fresh); !ok || i.Same(who) {
		t.Errorf("a new token of the name: %+v, %v", i, ok)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	s := token.Open(dir, nil)
	for _, spec := range []token.Spec{
		{Name: "", Scopes: []token.Scope{token.Read}},
		{Name: "root", Scopes: []token.Scope{token.Read}},
		{Name: "a b", Scopes: []token.Scope{token.Read}},
		{Name: "../x", Scopes: []token.Scope{token.Read}},
		{Name: strings.Repeat("a", 65), Scopes: []token.Scope{token.Read}},
		{Name: "x"},
		{Name: "x", Scopes: []token.Scope{"all"}},
		{Name: "x", Scopes: []token.Scope{token.Read}, Expires: time.Unix(1, 0)},
	} {
		if secret, err := s.Create(spec); err == nil || secret != "" {
			t.Errorf("%+v: %q, %v", spec, secret, err)
		}
	}
	for content, mode := range map[string]os.FileMode{"short": 0o600, strings.Repeat("a", 50): 0o644, strings.Repeat("a", 50) + "\nb": 0o600} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		bad := token.Open(dir, &token.Options{File: path})
		if _, err := bad.Ensure(); err == nil {
			t.Errorf("%q with mode %v is taken", content, mode)
		}
		if _, ok := bad.Lookup(content); ok || bad.Err() == nil {
			t.Errorf("%q with mode %v lets in", content, mode)
		}
	}
	if _, err := token.Open(filepath.Join(dir, "missing"), nil).Create(token.Spec{Name: "x", Scopes: []token.Scope{token.Read}}); err == nil {
		t.Error("a token for a directory that is missing")
	}
}

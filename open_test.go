package engram_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram"
)

// tree lists a directory with sizes, to show that nothing changed.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		b.WriteString(rel)
		if !info.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(content)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// created makes a data directory with one node in it.
func created(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	query(t, db, "CREATE (:N {id: 'one'})", nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOpenRefuses opens what cannot be opened: each has its code, says where,
// and changes nothing.
func TestOpenRefuses(t *testing.T) {
	graphFile := func(dir string) string { return filepath.Join(dir, "ns", "default", "graph.db") }
	for _, c := range []struct {
		name   string
		spoil  func(t *testing.T, dir string)
		code   engram.Code
		says   string
		create bool
	}{
		{"missing", func(t *testing.T, dir string) { remove(t, dir) }, engram.CodeNotFound, "", false},
		{
			"missing namespace", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "ns", "default")) },
			engram.CodeNotFound, "default", false,
		},
		{"empty file", func(t *testing.T, dir string) { write(t, graphFile(dir), "") }, engram.CodeDamaged, "graph.db", true},
		{
			"foreign file", func(t *testing.T, dir string) { write(t, graphFile(dir), strings.Repeat("hello ", 4000)) },
			engram.CodeForeign, "graph.db", true,
		},
		{"cut file", func(t *testing.T, dir string) {
			if err := os.Truncate(graphFile(dir), 16384); err != nil {
				t.Fatal(err)
			}
		}, engram.CodeDamaged, "graph.db", true},
		{"foreign directory", func(t *testing.T, dir string) {
			remove(t, dir)
			write(t, filepath.Join(dir, "notes.txt"), "mine")
		}, engram.CodeForeign, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := created(t)
			c.spoil(t, dir)
			before := tree(t, filepath.Dir(dir))
			db, err := engram.Open(dir, &engram.Options{Create: c.create})
			if err == nil {
				_ = db.Close()
				t.Fatal("it opened")
			}
			if !engram.IsCode(err, c.code) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if after := tree(t, filepath.Dir(dir)); after != before {
				t.Error("opening changed the directory")
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenTwiceTellsTheOwner(t *testing.T) {
	dir := created(t)
	db, err := engram.Open(dir, &engram.Options{Address: "127.0.0.1:7687"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = engram.Open(dir, nil)
	if !engram.IsCode(err, engram.CodeBusy) || !strings.Contains(err.Error(), "127.0.0.1:7687") {
		t.Errorf("the error is %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	dir := created(t)
	before := tree(t, dir)
	db, err := engram.Open(dir, &engram.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := number(t, db, "MATCH (n) RETURN count(n)"); n != 1 {
		t.Errorf("%d nodes", n)
	}
	if _, err := db.Query(context.Background(), "CREATE ()", nil); !engram.IsCode(err, engram.CodeReadOnly) {
		t.Errorf("writing gives %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if tree(t, dir) != before {
		t.Error("reading changed the directory")
	}
}

func TestNamespacesAreApart(t *testing.T) {
	data, err := engram.OpenData(filepath.Join(t.TempDir(), "data"), &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	for _, name := range []string{"b", "a"} {
		db, err := data.Open(name, true)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		query(t, db, "CREATE (:N {id: $id})", map[string]any{"id": name})
		if n := number(t, db, "MATCH (n) RETURN count(n)"); n != 1 {
			t.Errorf("%s has %d nodes", name, n)
		}
	}
	if names, err := data.Namespaces(); err != nil || len(names) != 2 || names[0] != "a" {
		t.Errorf("namespaces %v, %v", names, err)
	}
	if _, err := data.Open("../a", true); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a path as a name: %v", err)
	}
}

func TestOptionsThatNameNothing(t *testing.T) {
	bad := &engram.Options{Create: true, RecallLegs: []string{"wooden"}}
	if _, err := engram.OpenMemory(bad); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a leg that there is not, in memory: %v", err)
	}
	if _, err := engram.Open(filepath.Join(t.TempDir(), "d"), bad); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a leg that there is not, on disk: %v", err)
	}
	if _, err := engram.OpenMemory(&engram.Options{RecallOff: []string{"gravity"}}); !engram.IsCode(err, engram.CodeInvalidArgument) || !strings.Contains(err.Error(), "speaker") {
		t.Errorf("a rule that there is not: %v", err)
	}
	if _, err := engram.Open("", &engram.Options{Create: true}); !engram.IsCode(err, engram.CodeInvalidArgument) || !strings.Contains(err.Error(), "path") {
		t.Errorf("no path: %v", err)
	}
}

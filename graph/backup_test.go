package graph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

// opened opens the data directory and the graph main in it, which it makes if
// need be, and closes both at the end of the test.
func opened(t testing.TB, path string) (*graph.Data, *graph.DB) {
	t.Helper()
	data := openedData(t, path)
	if names := must(data.Names())(t); len(names) == 0 {
		if err := data.Create("main", nil); err != nil {
			t.Fatal(err)
		}
	}
	db := must(data.Open(context.Background(), "main", nil))(t)
	t.Cleanup(func() { closeDB(t, db) })
	return data, db
}

func openedData(t testing.TB, path string) *graph.Data {
	t.Helper()
	if err := graph.CreateData(path); err != nil && graph.CodeOf(err) != graph.Exists {
		t.Fatal(err)
	}
	data := must(graph.OpenData(path, graph.DataOptions{MaxSize: 256 << 20}))(t)
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	return data
}

// addPair adds two nodes with text and an edge, in one transaction.
func addPair(t testing.TB, db *graph.DB, i int) {
	t.Helper()
	update(t, db, func(tx *graph.Tx) {
		content, typ := must(tx.InternKey("content"))(t), must(tx.InternRelType("PAIR"))(t)
		var ends []value.NodeID
		for _, side := range []string{"a", "b"} {
			ends = append(ends, must(tx.CreateNode(nil, []value.KeyProp{
				{Key: 1, Value: value.String(fmt.Sprint(side, i))},
				{Key: content, Value: value.String(strings.Repeat("some words ", 10+i%400))},
			}))(t))
		}
		must(tx.CreateEdge(ends[0], ends[1], typ, nil))(t)
	})
}

// TestBackupWhileWriting takes backups beside a writer that never stops. Each
// holds whole transactions only, all up to its seq, and restores to a graph that
// passes check.
func TestBackupWhileWriting(t *testing.T) {
	dir := t.TempDir()
	_, db := opened(t, filepath.Join(dir, "data"))
	addPair(t, db, 0)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				addPair(t, db, i)
			}
		}
	})
	var taken []*graph.Backup
	for range 4 {
		before := db.Seq()
		b := must(db.Backup(context.Background(), filepath.Join(dir, "backups"), graph.BackupOptions{Namespace: "main", Keep: 3}))(t)
		if b.Seq < before || b.Nodes != 2*b.Edges || b.Nodes == 0 {
			t.Errorf("begun at %d: %+v", before, b)
		}
		taken = append(taken, b)
	}
	close(stop)
	writer.Wait()
	if last := taken[3]; len(last.Removed) != 1 || last.Removed[0] != taken[0].Path {
		t.Errorf("keeping 3 removed %v", last.Removed)
	}
	if db.Seq() <= taken[3].Seq {
		t.Error("nothing was written after the last backup began")
	}
	for i, b := range taken[1:] {
		data := openedData(t, filepath.Join(dir, fmt.Sprint("restored", i)))
		if r := must(data.Restore(context.Background(), b.Path, graph.RestoreOptions{Namespace: "copy"}))(t); r.Seq != b.Seq {
			t.Errorf("restored %+v of %+v", r, b)
		}
		copied := must(data.Open(context.Background(), "copy", nil))(t)
		r := checkClean(t, copied)
		if r.Nodes != b.Nodes || r.Edges != b.Edges || r.Seq != b.Seq || r.Texts != b.Nodes {
			t.Errorf("the restored graph has %+v, the backup was %+v", r, b)
		}
		addPair(t, copied, 1_000_000) // it can be written
		closeDB(t, copied)
	}
}

func TestBackupRefuses(t *testing.T) {
	db := memory(t, nil)
	dir := t.TempDir()
	for want, o := range map[graph.Code]graph.BackupOptions{
		graph.NotSupported:    {Namespace: "main"},
		graph.InvalidArgument: {Namespace: "main", Keep: -1},
	} {
		if _, err := db.Backup(context.Background(), dir, o); graph.CodeOf(err) != want {
			t.Errorf("%+v: %v; want %s", o, err, want)
		}
	}
	if entries := must(os.ReadDir(dir))(t); len(entries) > 0 {
		t.Errorf("it left %v", entries)
	}
}

// TestRestoreRefusesWhatIsOpen: neither restoring over an open graph nor compacting
// it is possible, and both leave it as it is.
func TestRestoreRefusesWhatIsOpen(t *testing.T) {
	dir := t.TempDir()
	data, db := opened(t, filepath.Join(dir, "data"))
	addPair(t, db, 1)
	b := must(db.Backup(context.Background(), filepath.Join(dir, "backups"), graph.BackupOptions{Namespace: "main"}))(t)
	if _, err := data.Restore(context.Background(), b.Path, graph.RestoreOptions{Replace: true}); graph.CodeOf(err) != graph.Busy {
		t.Errorf("Restore = %v; want busy", err)
	}
	if _, err := data.Compact(context.Background(), "main"); graph.CodeOf(err) != graph.Busy {
		t.Errorf("Compact = %v; want busy", err)
	}
	other := must(graph.OpenData(filepath.Join(dir, "data"), graph.DataOptions{}))(t)
	if _, err := other.Restore(context.Background(), b.Path, graph.RestoreOptions{Namespace: "x"}); graph.CodeOf(err) != graph.Busy {
		t.Errorf("Restore from elsewhere = %v; want busy", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if names := must(data.Names())(t); len(names) != 1 {
		t.Errorf("there is %v now", names)
	}
	checkClean(t, db)
}

// TestRestoreChecksTheContent: a backup whose sums are right but whose content is
// not is refused, and what was there stays.
func TestRestoreChecksTheContent(t *testing.T) {
	dir := t.TempDir()
	_, db := opened(t, filepath.Join(dir, "data"))
	addPair(t, db, 1)
	b := must(db.Backup(context.Background(), filepath.Join(dir, "backups"), graph.BackupOptions{Namespace: "main"}))(t)
	for name, wrong := range map[string]func(*graph.Manifest){
		"nodes":    func(m *graph.Manifest) { m.Nodes++ },
		"database": func(m *graph.Manifest) { m.Database = "0000000001" },
		"seq":      func(m *graph.Manifest) { m.Seq++ },
	} {
		if err := graph.Forge(b.Path, wrong); err != nil {
			t.Fatal(err)
		}
		data := openedData(t, filepath.Join(dir, "to-"+name))
		if _, err := data.Restore(context.Background(), b.Path, graph.RestoreOptions{}); graph.CodeOf(err) != graph.Damaged {
			t.Errorf("%s: %v; want damaged", name, err)
		}
		if names := must(data.Names())(t); len(names) > 0 {
			t.Errorf("%s: there is %v now", name, names)
		}
	}
}

// TestBackupsStayOutOfTheGraphs: a folder among the graphs would be taken for one.
func TestBackupsStayOutOfTheGraphs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	data, db := opened(t, path)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	ns := filepath.Join(path, "ns")
	for _, dir := range []string{ns, filepath.Join(ns, "main"), filepath.Join(ns, "new", "newer"), filepath.Join(link, "ns"), filepath.Join(link, "ns", "new")} {
		if _, err := db.Backup(t.Context(), dir, graph.BackupOptions{Namespace: "main"}); graph.CodeOf(err) != graph.InvalidArgument {
			t.Errorf("a backup into %s: %v; want it refused", dir, err)
		}
	}
	if names := must(data.Names())(t); len(names) != 1 {
		t.Errorf("the graphs are %q now", names)
	}
	for _, dir := range []string{filepath.Join(path, "backups"), filepath.Join(t.TempDir(), "a", "b")} {
		if _, err := db.Backup(t.Context(), dir, graph.BackupOptions{Namespace: "main"}); err != nil {
			t.Errorf("a backup into %s: %v", dir, err)
		}
	}
}

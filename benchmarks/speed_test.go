package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinySet generates a graph of 300 nodes with 25 of its transactions.
func tinySet(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := Generate(dir, "300", 7); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "writes.jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(file, []byte(strings.Join(lines[:25], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSpeed runs every metric on a tiny graph: all are measured, and what has a
// known result has it.
func TestSpeed(t *testing.T) {
	var out bytes.Buffer
	if err := Speed(context.Background(), SpeedOptions{Set: tinySet(t), JSON: true}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; last != "bench: passed 6, failed 0" {
		t.Errorf("the last line is %q", last)
	}
	rows := map[string]speedRow{}
	for _, line := range lines[:len(lines)-1] {
		var r speedRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows[r.Metric] = r
	}
	for metric, checksum := range map[string]string{
		"load_s": "300:1500", "load_notext_s": "300:1500", "write_tx_per_s": "325:1550", "write_tx_per_s_64": "350:1600", "ft": "share 1.0000",
	} {
		if r := rows[metric]; r.Checksum != checksum || r.OK == nil || !*r.OK {
			t.Errorf("%s: %+v, want the checksum %s", metric, r, checksum)
		}
	}
	for metric, n := range map[string]int{"bbolt_tx_per_s": 25, "write_to_bbolt": 1, "write_64_to_one": 1, "syncs_per_tx": 25, "syncs_per_tx_one": 25} {
		if r := rows[metric]; r.N < n || r.Value <= 0 || r.Size != "300" {
			t.Errorf("%s: %+v, want %d operations", metric, r, n)
		}
	}
	if one, many := rows["syncs_per_tx_one"].Value, rows["syncs_per_tx"].Value; one < 2 || many >= one {
		t.Errorf("%v syncs a transaction with one writer, %v with 64", one, many)
	}
	for metric, n := range map[string]int{
		"point": 5000, "hop1": 5000, "hop2": 500, "hop3": 200, "sp": 200, "agg": 50, "agg_prop": 50, "ft": 200, "recall": 200, "ppr": 500,
	} {
		r := rows[metric]
		if r.N != n || r.Value <= 0 || r.Unit != "ms" || r.Size != "300" {
			t.Errorf("%s: %+v, want %d operations", metric, r, n)
		}
		if r.Allocs == nil || *r.Allocs <= 0 || r.Visited == nil || *r.Visited < 1 {
			t.Errorf("%s: no allocations or nothing visited: %+v", metric, r)
		}
	}
	if point, hop1, hop2 := *rows["point"].Visited, *rows["hop1"].Visited, *rows["hop2"].Visited; point != 2 || hop1 <= point || hop2 <= hop1 {
		t.Errorf("a point read visits %v, one hop %v, two hops %v", point, hop1, hop2)
	}
	for _, metric := range []string{"hop1", "point"} {
		for _, after := range []string{"_after_write", "_after_pause"} {
			if r := rows[metric+after]; r.N != 500 || r.Value <= 0 {
				t.Errorf("%s%s: %+v, want 500 operations", metric, after, r)
			}
		}
	}
}

// TestSpeedFails takes an edge away: the counts no longer hold.
func TestSpeedFails(t *testing.T) {
	dir := tinySet(t)
	file := filepath.Join(dir, "edges.csv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.LastIndexByte(bytes.TrimSpace(text), '\n') + 1
	if err := os.WriteFile(file, text[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Speed(context.Background(), SpeedOptions{Set: dir, Only: []string{"point"}}, &out); !errors.Is(err, ErrChecksum) {
		t.Errorf("error %v, want ErrChecksum", err)
	}
	if !strings.HasSuffix(out.String(), "bench: passed 0, failed 1\n") {
		t.Errorf("printed\n%s", out.String())
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, size := range []string{"", "huge", "0", "9", "-5", "12abc", "1e3", "999999999999999999999", "200000000"} {
		dir := filepath.Join(t.TempDir(), "set")
		if err := Generate(dir, size, 1); !errors.Is(err, ErrSize) {
			t.Errorf("size %q: %v, want ErrSize", size, err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("size %q made a folder", size)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Generate(file, "10", 1); err == nil {
		t.Error("generated into a file")
	}
	if err := Generate(t.TempDir(), "10", 1); err != nil {
		t.Errorf("the least size: %v", err)
	}
}

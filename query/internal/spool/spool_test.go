package spool

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"engram/graph/value"
	"engram/query/internal/fault"
)

// everyKind has at least one value of each kind, and the odd ones of some.
func everyKind() []value.Value {
	node := value.OfNode(&value.Node{
		ID: 7, ElementID: "n7", Labels: []string{"A", "B"},
		Properties: []value.Prop{{Key: "k", Value: value.Int(1)}, {Key: "l", Value: value.List([]value.Value{value.Null})}},
	})
	edge := value.OfEdge(&value.Edge{
		ID: 9, ElementID: "e9", Type: "KNOWS", Src: 7, Dst: 8, SrcElementID: "n7", DstElementID: "n8",
		Properties: []value.Prop{{Key: "since", Value: value.OfDate(value.Date{Days: -1})}},
	})
	bare := value.OfNode(&value.Node{ID: 8, ElementID: "n8"})
	return []value.Value{
		value.Null, value.Bool(true), value.Bool(false),
		value.Int(0), value.Int(math.MinInt64), value.Int(math.MaxInt64),
		value.Float(0), value.Float(math.Copysign(0, -1)), value.Float(math.Inf(-1)), value.Float(5e-324),
		value.Float(math.Float64frombits(0x7ff8000000000123)), // a NaN of its own
		value.String(""), value.String("häß\x00\xff"), value.String(strings.Repeat("long ", 100_000)),
		value.List(nil), value.List([]value.Value{value.Int(1), value.List([]value.Value{value.String("x")})}),
		value.Map(nil), value.Map([]value.Prop{{Key: "a", Value: value.Float(1)}, {Key: "b", Value: node}}),
		node, edge, bare, value.NodeRef(1 << 60), value.EdgeRef(3),
		value.OfPath(&value.Path{Nodes: []value.Value{node, bare}, Edges: []value.Value{edge}}),
		value.OfDate(value.Date{Days: -365_000_000_000}),
		value.OfLocalTime(value.LocalTime{Nanos: 86_399_999_999_999}),
		value.OfTime(value.Time{Nanos: 1, Offset: -18 * 3600}),
		value.OfLocalDateTime(value.LocalDateTime{Seconds: -1, Nanos: 999_999_999}),
		value.OfDateTime(value.DateTime{Seconds: 1 << 40, Nanos: 5, Offset: 3208, Zone: "Europe/Stockholm"}),
		value.OfDuration(value.Duration{Months: -1, Days: 2, Seconds: -3, Nanos: 4}),
	}
}

// show spells a value so that no two are alike: text, bits and what is inside.
func show(v value.Value) string {
	s := fmt.Sprintf("%v %v %d", v.Kind(), v, value.Bits(v))
	if v.Kind() == value.KindFloat {
		return fmt.Sprintf("float %x", math.Float64bits(v.AsFloat()))
	}
	switch v.Kind() {
	case value.KindNode:
		if n := v.AsNode(); n != nil {
			return fmt.Sprintf("node %+v", *n)
		}
	case value.KindEdge:
		if e := v.AsEdge(); e != nil {
			return fmt.Sprintf("edge %+v", *e)
		}
	case value.KindNull, value.KindBool, value.KindInt:
		return s
	case value.KindDateTime:
		return fmt.Sprintf("datetime %+v", v.AsDateTime())
	}
	return fmt.Sprintf("%v %v", v.Kind(), v)
}

// TestKinds sends every kind through a file, next to each other in one row.
func TestKinds(t *testing.T) {
	want := everyKind()
	s := NewSpace(t.TempDir()).New(-1)
	defer closed(t, s)
	const rows = 40 // of half a megabyte
	for range rows {
		if err := s.Append([][]value.Value{want}); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil {
		t.Fatal("all rows are in memory")
	}
	for i := range rows {
		row, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		for c := range want {
			if got, want := show(row[c]), show(want[c]); got != want {
				t.Fatalf("row %d: %.200s, want %.200s", i, got, want)
			}
		}
	}
	if row, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last row: %v, %v", row, err)
	}
}

func closed(t *testing.T, s *Spool) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// numbers makes rows 0 to n-1 of one number.
func numbers(n int) [][]value.Value {
	rows := make([][]value.Value, n)
	for i := range rows {
		rows[i] = []value.Value{value.Int(int64(i))}
	}
	return rows
}

// TestOrder checks that rows come in order across the border between memory and
// file, whatever pieces they were appended in.
func TestOrder(t *testing.T) {
	const n = 100_000
	for _, piece := range []int{n, 1, 1000} {
		s := NewSpace(t.TempDir()).New(-1)
		for rows := numbers(n); len(rows) > 0; rows = rows[min(piece, len(rows)):] {
			if err := s.Append(rows[:min(piece, len(rows))]); err != nil {
				t.Fatal(err)
			}
		}
		if s.Len() != n || s.file == nil || len(s.rows) == 0 {
			t.Fatalf("%d rows, %d of them in memory", s.Len(), len(s.rows))
		}
		for i := range n {
			row, err := s.Next()
			if err != nil || row[0].AsInt() != int64(i) {
				t.Fatalf("row %d: %v, %v", i, row, err)
			}
		}
		closed(t, s)
	}
}

// TestNoFileForFewRows checks that a small answer costs no file.
func TestNoFileForFewRows(t *testing.T) {
	s := NewSpaceOf("nowhere", func(string) (File, error) { return nil, errors.New("a file was made") }).New(-1)
	defer closed(t, s)
	if err := s.Append(numbers(1000)); err != nil {
		t.Fatal(err)
	}
}

// TestLimit checks that the file does not grow beyond its limit.
func TestLimit(t *testing.T) {
	s := NewSpace(t.TempDir()).New(200_000)
	defer closed(t, s)
	err := s.Append(numbers(1_000_000))
	if f := fault.As(err); f == nil || f.Type != fault.ResourceExhausted || !strings.Contains(f.Message, "200000 bytes") {
		t.Errorf("got %v", err)
	}
	info, err := s.file.(*osFile).Stat()
	if err != nil || info.Size() > 200_000 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// fullFile fails after some bytes.
type fullFile struct {
	*os.File
	room int
}

func (f *fullFile) WriteAt(b []byte, off int64) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, off)
}

// TestFullDisk checks that the error of the disk comes through, wherever it comes.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100_000, 1_000_000} {
		s := NewSpaceOf(t.TempDir(), func(dir string) (File, error) {
			f, err := os.CreateTemp(dir, prefix)
			return &fullFile{File: f, room: room}, err
		}).New(-1)
		err := s.Append(numbers(1_000_000))
		var io *IOError
		if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &io) || io.Op != "writing" {
			t.Errorf("room for %d bytes: %v", room, err)
		}
		closed(t, s)
	}
}

// TestDamage checks that rows are not made of what was not written.
func TestDamage(t *testing.T) {
	for _, at := range []int64{0, 5, header, 40_000, 70_000} {
		s := NewSpace(t.TempDir()).New(-1)
		if err := s.Append(numbers(100_000)); err != nil {
			t.Fatal(err)
		}
		var b [1]byte
		if _, err := s.file.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 4
		if _, err := s.file.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		var err error
		for i := int64(0); err == nil; i++ {
			var row []value.Value
			if row, err = s.Next(); err == nil && row[0].AsInt() != i {
				t.Fatalf("byte %d: row %d is %v", at, i, row)
			}
		}
		if !errors.Is(err, errDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
		closed(t, s)
	}
}

// TestNoFileLeft checks that files have no name while they are used, that what a
// killed process left goes, and that nothing else does.
func TestNoFileLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{prefix + "left", "engram-other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	space := NewSpace(dir)
	s := space.New(-1)
	if err := s.Append(numbers(100_000)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // open files keep their names there
		names(t, dir, "engram-other")
	}
	closed(t, s)
	names(t, dir, "engram-other")
	closed(t, s)
	if row, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("closed, but there is %v, %v", row, err)
	}
}

func names(t *testing.T, dir, want string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("there is %v, want %s", got, want)
	}
}

// TestNoDirectory checks the error of a directory that is not there.
func TestNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	s := NewSpace(dir).New(-1)
	defer closed(t, s)
	err := s.Append(numbers(100_000))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "creating the temporary file for the rows of a large result in "+dir) {
		t.Errorf("got %v", err)
	}
}

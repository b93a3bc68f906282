package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"engram"
)

// columnKind says what the cells of a column become.
type columnKind uint8

const (
	kindText columnKind = iota
	kindInt
	kindFloat
	kindBool
	kindDateTime
	kindTextList
	kindInferred // until the first pass has seen the cells
)

var kindNames = map[string]columnKind{
	"int": kindInt, "long": kindInt, "integer": kindInt, "float": kindFloat, "double": kindFloat,
	"boolean": kindBool, "datetime": kindDateTime, "string": kindText, "string[]": kindTextList,
}

// column is one column of a CSV file: a role such as id or type, or a property.
type column struct {
	role string // id, label, src, dst, type, or empty for a property
	name string
	kind columnKind
	seen columnKind // narrowest kind that fits all cells, while inferring
	any  bool       // a cell with content was seen
}

// roles by header: the plain ones and those of neo4j-admin.
var (
	nodeRoles = map[string]string{"id": "id", "label": "label", "labels": "label", ":id": "id", ":label": "label"}
	edgeRoles = map[string]string{"src": "src", "dst": "dst", "type": "type", ":start_id": "src", ":end_id": "dst", ":type": "type"}
)

// table reads a CSV file twice: once to learn the kinds of columns whose header
// does not say, then for its rows.
type table struct {
	source  io.ReadSeeker
	columns []column
	rows    int
	offset  func() int64 // of the second pass
}

// openTable reads the header and infers the kinds of the columns. needed are the
// roles that must be there.
func openTable(source io.ReadSeeker, roles map[string]string, needed ...string) (*table, error) {
	t := &table{source: source}
	r, err := t.reader()
	if err != nil {
		return nil, err
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty, want a header line")
	}
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for i, cell := range header {
		if i == 0 {
			cell = strings.TrimPrefix(cell, "\ufeff")
		}
		c, err := parseHeader(strings.TrimSpace(cell), roles)
		if err != nil {
			return nil, err
		}
		have[c.role] = true
		t.columns = append(t.columns, c)
	}
	for _, role := range needed {
		if !have[role] {
			return nil, fmt.Errorf("the header has no column %q; it has %s", role, strings.Join(header, ", "))
		}
	}
	return t, t.infer(r)
}

func parseHeader(cell string, roles map[string]string) (column, error) {
	if role, ok := roles[strings.ToLower(cell)]; ok {
		return column{role: role, name: role, kind: kindText}, nil
	}
	name, suffix, typed := strings.Cut(cell, ":")
	if role, ok := roles[":"+strings.ToLower(suffix)]; ok && typed {
		return column{role: role, name: role, kind: kindText}, nil
	}
	if name == "" {
		return column{}, fmt.Errorf("the header %q names no property", cell)
	}
	if !typed {
		return column{name: name, kind: kindInferred, seen: kindInt}, nil
	}
	kind, ok := kindNames[strings.ToLower(suffix)]
	if !ok {
		return column{}, fmt.Errorf("the header %q has an unknown type; known are int, float, boolean, datetime, string and string[]", cell)
	}
	return column{name: name, kind: kind}, nil
}

func (t *table) reader() (*csv.Reader, error) {
	if _, err := t.source.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("a CSV file is read twice: %w", err)
	}
	r := csv.NewReader(t.source)
	r.ReuseRecord = true
	return r, nil
}

// infer finds for each untyped column the narrowest of int, float, boolean and
// text that fits every cell, so that a column never mixes kinds.
func (t *table) infer(r *csv.Reader) error {
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		t.rows++
		for i := range t.columns {
			if c := &t.columns[i]; c.kind == kindInferred && record[i] != "" {
				c.narrow(record[i])
			}
		}
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.kind == kindInferred {
			c.kind = c.seen
			if !c.any {
				c.kind = kindText
			}
		}
	}
	return nil
}

func (c *column) narrow(cell string) {
	first := !c.any
	c.any = true
	if c.seen == kindInt {
		if _, err := strconv.ParseInt(cell, 10, 64); err == nil {
			return
		}
		c.seen = kindFloat
		if first && (cell == "true" || cell == "false") {
			c.seen = kindBool
		}
	}
	if c.seen == kindFloat {
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			return
		}
		c.seen = kindText
	}
	if c.seen == kindBool && cell != "true" && cell != "false" {
		c.seen = kindText
	}
}

// read returns how many bytes of the file the second pass has read; 0 for nil.
func (t *table) read() int64 {
	if t == nil || t.offset == nil {
		return 0
	}
	return t.offset()
}

// each calls fn with every row: the cells of roles by name, and the properties.
// Empty cells are no properties.
func (t *table) each(fn func(line int, roles map[string]string, props []engram.Prop) error) error {
	r, err := t.reader()
	if err != nil {
		return err
	}
	if _, err := r.Read(); err != nil {
		return err
	}
	t.offset = r.InputOffset
	roles := map[string]string{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		clear(roles)
		props := make([]engram.Prop, 0, len(t.columns)+1)
		for i, c := range t.columns {
			if c.role != "" {
				roles[c.role] = record[i]
				continue
			}
			if record[i] == "" {
				continue
			}
			v, err := c.value(record[i])
			if err != nil {
				return &LineError{line, fmt.Errorf("column %s: %w", c.name, err)}
			}
			props = append(props, engram.Prop{Key: c.name, Value: v})
		}
		if err := fn(line, roles, props); err != nil {
			return err
		}
	}
}

func (c column) value(cell string) (engram.Value, error) {
	v, err := c.parse(cell)
	if err != nil {
		return engram.Value{}, err
	}
	return engram.ValueOf(v)
}

func (c column) parse(cell string) (any, error) {
	switch c.kind {
	case kindInt:
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no integer", cell)
		}
		return n, nil
	case kindFloat:
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", cell)
		}
		return f, nil
	case kindBool:
		switch strings.ToLower(cell) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", cell)
	case kindDateTime:
		t, err := time.Parse(time.RFC3339Nano, cell)
		if err != nil {
			return nil, fmt.Errorf("%q is no datetime such as 2024-05-01T10:00:00Z", cell)
		}
		return engram.DateTimeOf(t), nil
	case kindTextList:
		return strings.Split(cell, ";"), nil
	}
	return cell, nil
}

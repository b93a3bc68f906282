package importer

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"engram"
)

// table reads a CSV file twice: first to verify every cell and to learn the kinds
// of columns whose header does not say, then for its rows.
type table struct {
	source  io.ReadSeeker
	columns []column
	rows    int
	sum     string       // SHA-256 of the file
	offset  func() int64 // of the second pass
}

// rowFunc is told the cells of a row that have a role, by role.
type rowFunc func(line int, roles map[string]string) error

// openTable reads the file once. needed are the roles that must be there; verify
// is called with every row.
func openTable(source io.ReadSeeker, roles map[string]string, needed []string, verify rowFunc) (*table, error) {
	t := &table{source: source}
	hash := sha256.New()
	r, err := t.reader(hash)
	if err != nil {
		return nil, err
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty, want a header line")
	}
	if err != nil {
		return nil, csvError(err, 0)
	}
	if t.columns, err = parseHeaders(header, roles, needed); err != nil {
		return nil, err
	}
	err = t.learn(r, verify)
	t.sum = hex.EncodeToString(hash.Sum(nil))
	return t, err
}

// reader starts over; what it reads goes to copyTo as well.
func (t *table) reader(copyTo io.Writer) (*csv.Reader, error) {
	if _, err := t.source.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("a CSV file is read twice: %w", err)
	}
	r := csv.NewReader(io.TeeReader(t.source, copyTo))
	r.ReuseRecord = true
	return r, nil
}

// learn verifies every row, and finds for each untyped column the narrowest of
// int, float, boolean and text that fits every cell, so that a column never mixes
// kinds.
func (t *table) learn(r *csv.Reader, verify rowFunc) error {
	roles := map[string]string{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return csvError(err, len(t.columns), record...)
		}
		t.rows++
		line, _ := r.FieldPos(0)
		for i := range t.columns {
			if err := t.columns[i].learn(record[i], roles); err != nil {
				return &LineError{line, fmt.Errorf("column %s: %w", t.columns[i].name, err)}
			}
		}
		if err := verify(line, roles); err != nil {
			return &LineError{line, err}
		}
	}
	for i := range t.columns {
		t.columns[i].settle()
	}
	return nil
}

// csvError tells the line in the words of a file, not of a parser.
func csvError(err error, want int, record ...string) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return &LineError{parse.Line, fmt.Errorf("the row has %d cells, but the header has %d", len(record), want)}
	}
	return &LineError{parse.Line, fmt.Errorf("%w, at character %d; a cell with quotes in it is quoted and its quotes doubled", parse.Err, parse.Column)}
}

// read returns how many bytes of the file the second pass has read; 0 for nil.
func (t *table) read() int64 {
	if t == nil || t.offset == nil {
		return 0
	}
	return t.offset()
}

// each calls fn with every row: the cells of roles by name, and the properties.
// Empty cells are no properties; dates that do not parse stay text and are given
// to problem.
func (t *table) each(problem func(line int, format string, args ...any), fn func(line int, roles map[string]string, props []engram.Prop) error) error {
	r, err := t.reader(io.Discard)
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
		props := make([]engram.Prop, 0, len(t.columns)+1)
		for i := range t.columns {
			c := &t.columns[i]
			if c.role != "" {
				roles[c.role] = record[i]
			}
			if !c.kept() || record[i] == "" {
				continue
			}
			v, err := c.value(record[i])
			if err != nil {
				problem(line, "column %s: %v; it stays text", c.name, err)
				v = stringValue(record[i])
			}
			props = append(props, engram.Prop{Key: c.name, Value: v})
		}
		if err := fn(line, roles, props); err != nil {
			return err
		}
	}
}

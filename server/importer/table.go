package importer

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// table reads a CSV file twice: first to verify every cell and to learn the kinds
// of columns whose header does not say, then for its rows.
type table struct {
	source  io.ReadSeeker
	columns []column
	rows    int    // that were understood
	bad     []int  // numbers of rows that are left out, from 1
	sum     string // SHA-256 of the file
	size    int64  // of the file, in bytes
	offset  int64  // of the second pass
}

// rowFunc is told the cells of a row that have a role, by role.
type rowFunc func(line int, roles map[string]string) error

// openTable reads the file once. needed are the roles that must be there; verify
// is called with every row. bad is told of rows that are not understood: it returns
// what ends the reading, or nil to leave the row out.
func openTable(source io.ReadSeeker, roles map[string]string, needed []string, bad func(line int, err error) error, verify rowFunc) (*table, error) {
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
	err = t.learn(r, bad, verify)
	t.sum, t.size = hex.EncodeToString(hash.Sum(nil)), r.InputOffset()
	return t, err
}

// bytes returns the size of the file; 0 for nil.
func (t *table) bytes() int64 {
	if t == nil {
		return 0
	}
	return t.size
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
func (t *table) learn(r *csv.Reader, bad func(line int, err error) error, verify rowFunc) error {
	roles := map[string]string{}
	for number := 1; ; number++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line := 0
		if err == nil {
			line, _ = r.FieldPos(0)
			err = t.verify(line, record, roles, verify)
		} else {
			err = csvError(err, len(t.columns), record...)
		}
		if err == nil {
			t.rows++
			for i := range t.columns {
				t.columns[i].infer(record[i])
			}
			continue
		}
		var at *LineError
		if !errors.As(err, &at) {
			return err
		}
		if err := bad(at.Line, at.Err); err != nil {
			return err
		}
		t.bad = append(t.bad, number)
	}
	for i := range t.columns {
		t.columns[i].settle()
	}
	return nil
}

// verify looks at the cells of one row.
func (t *table) verify(line int, record []string, roles map[string]string, verify rowFunc) error {
	for i := range t.columns {
		if err := t.columns[i].verify(record[i], roles); err != nil {
			return &LineError{line, fmt.Errorf("column %s: %w", t.columns[i].name, err)}
		}
	}
	return verify(line, roles)
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
	if t == nil {
		return 0
	}
	return t.offset
}

package importer

import (
	"encoding/csv"
	"errors"
	"io"
	"sync"

	"engram"
)

// tableRow is what the second pass of a table makes of a line.
type tableRow struct {
	line     int
	cells    []string // of the columns with a role, in the order of the columns
	props    []engram.Prop
	problems []cellProblem
}

// cellProblem is a cell that is kept as text.
type cellProblem struct {
	column string
	err    error
}

// chunk is rows that are handed over together.
type chunk struct {
	rows   []tableRow
	offset int64 // of the file, behind them
	err    error // what ended the reading there; nil: more may come
}

// A chunk ends with either; two wait for whoever takes them.
const (
	chunkRows  = 256
	chunkBytes = 256 << 10
	chunksKept = 2
)

// each calls fn with every row that was understood: the cells of roles by name, and
// the properties. Empty cells are no properties; dates that do not parse stay text and
// are problems of the report, told with the name of the file. Lines are read and
// understood beside fn.
func (t *table) each(report *Report, file string, fn func(line int, roles map[string]string, props []engram.Prop) error) error {
	r, err := t.reader(io.Discard)
	if err != nil {
		return err
	}
	if _, err := r.Read(); err != nil {
		return err
	}
	chunks, enough := make(chan chunk, chunksKept), make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { t.readChunks(r, chunks, enough) })
	defer reading.Wait()
	defer close(enough)
	roles := map[string]string{}
	for c := range chunks {
		t.offset = c.offset
		for i := range c.rows {
			row := &c.rows[i]
			for _, p := range row.problems {
				report.problemAt(origin{file, row.line}, "column %s: %v; it stays text", p.column, p.err)
			}
			t.setRoles(roles, row.cells)
			if err := fn(row.line, roles, row.props); err != nil {
				return err
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

func (t *table) setRoles(roles map[string]string, cells []string) {
	next := 0
	for i := range t.columns {
		if role := t.columns[i].role; role != "" {
			roles[role] = cells[next]
			next++
		}
	}
}

// readChunks hands over all rows, until there are enough, and closes chunks.
func (t *table) readChunks(r *csv.Reader, chunks chan<- chunk, enough <-chan struct{}) {
	defer close(chunks)
	bad, number := t.bad, 0
	for more := true; more; {
		c := chunk{}
		for from := r.InputOffset(); more && len(c.rows) < chunkRows && r.InputOffset()-from < chunkBytes; {
			record, err := r.Read()
			number++
			switch {
			case errors.Is(err, io.EOF):
				more = false
			case len(bad) > 0 && bad[0] == number:
				bad = bad[1:]
			case err != nil:
				c.err, more = err, false
			default:
				line, _ := r.FieldPos(0)
				c.rows = append(c.rows, t.row(line, record))
			}
		}
		c.offset = r.InputOffset()
		select {
		case chunks <- c:
		case <-enough:
			return
		}
	}
}

// row makes properties of a line's cells.
func (t *table) row(line int, record []string) tableRow {
	out := tableRow{line: line, props: make([]engram.Prop, 0, len(t.columns)+2)}
	for i := range t.columns {
		c := &t.columns[i]
		if c.role != "" {
			out.cells = append(out.cells, record[i])
		}
		if !c.kept() || record[i] == "" {
			continue
		}
		v, err := c.value(record[i])
		if err != nil {
			out.problems = append(out.problems, cellProblem{c.name, err})
			v = stringValue(record[i])
		}
		out.props = append(out.props, engram.Prop{Key: c.name, Value: v})
	}
	return out
}

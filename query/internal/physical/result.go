package physical

import (
	"errors"
	"io"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/spool"
)

// rows takes the rows of a result, chunk by chunk. Nodes and edges are shown as
// they are after the whole statement: add may load them at once only when the
// statement does not write.
type rows interface {
	add(chunk [][]value.Value, size int64) error
	// finish loads what is not loaded yet and returns the rows unless they went
	// elsewhere.
	finish() ([][]value.Value, error)
	// drop lets go of everything but the result.
	drop()
}

func (inst *instance) rows() rows {
	l := loader{x: &inst.exec}
	switch out := inst.in.Rows; {
	case out == nil:
		inst.held = heldRows{loader: l}
		return &inst.held
	case inst.w == nil:
		return &spooledRows{loader: l, to: out}
	default:
		return &lateRows{spooledRows: spooledRows{loader: l, to: out}, refs: out.Like()}
	}
}

// collect runs the statement to its end, hands its rows on and returns how many
// there are.
func (inst *instance) collect(out rows) (n int64, err error) {
	if err := inst.root.open(&inst.exec, nil, nil); err != nil {
		return 0, err
	}
	width := len(inst.plan.Columns)
	for {
		b, err := inst.root.next()
		if err != nil || b == nil {
			return n, err
		}
		if width == 0 {
			continue
		}
		if n += int64(b.N); n > inst.in.Budget.Rows {
			return n, exhausted("rows", inst.in.Budget.Rows, "")
		}
		chunk, size := copyRows(b, width)
		if err := out.add(chunk, size); err != nil {
			return n, err
		}
	}
}

// copyRows copies a batch into rows that share one piece of memory, and estimates
// its size.
func copyRows(b *batch.Batch, width int) (chunk [][]value.Value, size int64) {
	flat := make([]value.Value, width*b.N)
	chunk = make([][]value.Value, b.N)
	for i := range chunk {
		row := flat[i*width : (i+1)*width : (i+1)*width]
		for c := range row {
			row[c] = b.Cols[c][i]
			size += int64(row[c].Size())
		}
		chunk[i] = row
	}
	return chunk, size + int64(24*b.N)
}

// heldRows keeps the rows in memory, within the budget.
type heldRows struct {
	loader
	kept [][]value.Value
}

func (r *heldRows) add(chunk [][]value.Value, size int64) error {
	if r.kept == nil {
		r.kept = chunk
	} else {
		r.kept = append(r.kept, chunk...)
	}
	return r.x.grow(size)
}

func (r *heldRows) finish() ([][]value.Value, error) { return r.kept, r.load(r.kept) }

func (*heldRows) drop() {}

// spooledRows hands the rows of a statement that only reads to a spool.
type spooledRows struct {
	loader
	to *spool.Spool
}

func (r *spooledRows) add(chunk [][]value.Value, _ int64) error {
	if err := r.load(chunk); err != nil {
		return err
	}
	if err := r.trim(); err != nil {
		return err
	}
	return r.to.Append(chunk)
}

func (*spooledRows) finish() ([][]value.Value, error) { return nil, nil }

func (*spooledRows) drop() {}

// lateRows keeps the rows of a writing statement as references until it is done.
type lateRows struct {
	spooledRows
	refs *spool.Spool
}

func (r *lateRows) add(chunk [][]value.Value, _ int64) error {
	if err := r.x.step(len(chunk)); err != nil {
		return err
	}
	return r.refs.Append(chunk)
}

func (r *lateRows) finish() ([][]value.Value, error) {
	chunk := make([][]value.Value, 0, batch.Size)
	for {
		row, err := r.refs.Next()
		if err == nil {
			if chunk = append(chunk, row); len(chunk) < batch.Size {
				continue
			}
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err := r.spooledRows.add(chunk, 0); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, nil
		}
		chunk = chunk[:0]
	}
}

func (r *lateRows) drop() { _ = r.refs.Close() } // nothing in it is needed any more

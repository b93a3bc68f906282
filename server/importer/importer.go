// Package importer brings files into a namespace: memories as JSON Lines and
// graphs as CSV. It speaks EQL to a Target, so that the same rules serve the
// command line, HTTP and the benchmarks. Importing a file again changes nothing:
// nodes are found by id, edges by their ends and type.
package importer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"engram"
)

// Statement is one EQL statement with its parameters.
type Statement struct {
	Text   string
	Params map[string]any
}

// Target is where an import goes.
type Target interface {
	// Write runs the statements as one transaction and returns its seq once it
	// is durable.
	Write(ctx context.Context, statements []Statement) (seq uint64, err error)
	// Read runs one statement that writes nothing and returns its rows.
	Read(ctx context.Context, statement Statement) ([][]engram.Value, error)
}

// Options tune an import. The zero value is usable.
type Options struct {
	// Batch is how many lines go into one transaction; default 500. A graph that is
	// loaded in bulk has batches of up to 60,000 records unless it is set.
	Batch int
	// Restart gives up an unfinished import of a graph, if there is one: what it
	// brought stays, and this import merges with it.
	Restart bool
	// NoText leaves filling the text index for later when a graph is loaded in
	// bulk: it is done behind, or at the first search, which waits for it.
	NoText bool
	// Progress, when set, is told the bytes read so far, after every
	// transaction.
	Progress func(bytes int64)
	// Begin, when set, is told before every transaction how many lines of the
	// input will be behind it.
	Begin func(lines int)
	// Ack, when set, is told the seq of every transaction, and how many lines
	// of the input are behind it, once it is durable.
	Ack func(seq uint64, lines int)
}

func (o Options) withDefaults() (Options, error) {
	if o.Batch == 0 {
		o.Batch = 500
	}
	if o.Batch < 1 || o.Batch > 10_000 {
		return o, fmt.Errorf("import: batch of %d lines, want 1 to 10,000", o.Batch)
	}
	return o, nil
}

// Report says what an import understood and what it left.
type Report struct {
	Lines         int // lines of input taken in
	Resumed       int // of those, lines that an interrupted import had taken in
	Memories      int
	Conversations int
	Sessions      int
	Nodes         int // of a graph import
	Edges         int
	Transactions  int
	// Problems are inputs that were taken in differently than meant, such as
	// dates that do not parse; the first MaxProblems of them.
	Problems []Problem
	// ProblemCount counts all of them.
	ProblemCount int
}

// MaxProblems bounds the list of problems in a Report.
const MaxProblems = 20

// Problem is something in the input that could not be understood.
type Problem struct {
	Line   int
	Reason string
}

func (r *Report) problem(line int, format string, args ...any) {
	r.ProblemCount++
	if len(r.Problems) < MaxProblems {
		r.Problems = append(r.Problems, Problem{line, fmt.Sprintf(format, args...)})
	}
}

// LineError is a line of the input that stops an import.
type LineError struct {
	Line int
	Err  error
}

// Error tells the line and the cause.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// String tells the counts in one line.
func (r Report) String() string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{r.Memories, "memory", "memories"},
		{r.Conversations, "conversation", "conversations"},
		{r.Sessions, "session", "sessions"},
		{r.Nodes, "node", "nodes"},
		{r.Edges, "edge", "edges"},
		{r.Transactions, "transaction", "transactions"},
		{r.ProblemCount, "problem", "problems"},
	} {
		switch c.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+c.one)
		default:
			parts = append(parts, strconv.Itoa(c.n)+" "+c.many)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

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
	// Format is how the input is written; see Formats. Empty: found by its content.
	Format string
	// Split makes nodes of the headings of Markdown files ("heading"), which otherwise
	// are one each.
	Split string
	// DryRun reads and compares everything and writes nothing.
	DryRun bool
	// SkipBad leaves out pieces of the input that cannot be understood, each of which is
	// reported, instead of ending the import without having written anything.
	SkipBad bool
	// Restart gives up an unfinished import of a graph, if there is one: what it
	// brought stays, and this import merges with it.
	Restart bool
	// NoText leaves filling the text index for later when a graph is loaded in
	// bulk: it is done behind, or at the first search, which waits for it.
	NoText bool
	// Brings, when set, is told the id of each node that a memories file brings.
	Brings func(id string)
	// Progress, when set, is told the bytes read so far, after every
	// transaction.
	Progress func(bytes int64)
	// Begin, when set, is told before every transaction how many lines of the
	// input will be behind it.
	Begin func(lines int)
	// Ack, when set, is told the seq of every transaction, and how many lines
	// of the input are behind it, once it is durable.
	Ack func(seq uint64, lines int)

	chosen  int  // Batch as it was given, 0 if it was not
	settled bool // defaults are filled in
}

func (o Options) withDefaults() (Options, error) {
	if o.settled {
		return o, nil
	}
	o.chosen, o.settled = o.Batch, true
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
	Format        string `json:"format,omitempty"` // as it was given or found
	DryRun        bool   `json:"dry_run,omitempty"`
	Files         int    `json:"files,omitempty"`   // of a folder, that were taken in
	Lines         int    `json:"lines,omitempty"`   // of input taken in
	Resumed       int    `json:"resumed,omitempty"` // of those, lines or records that an interrupted import had taken in
	Memories      int    `json:"memories,omitempty"`
	Conversations int    `json:"conversations,omitempty"`
	Sessions      int    `json:"sessions,omitempty"`
	Nodes         int    `json:"nodes"`
	Edges         int    `json:"edges"`
	Transactions  int    `json:"transactions"`
	Statements    int    `json:"statements,omitempty"` // of a script, that were run
	Declared      int    `json:"declared,omitempty"`   // indexes, layers and the like
	// What became of the nodes and edges: made, changed, there already with the same
	// fields, or left as they were, because they are somebody else's or were edited.
	Created      int `json:"nodes_created"`
	Updated      int `json:"nodes_updated,omitempty"`
	Same         int `json:"nodes_same,omitempty"`
	Left         int `json:"nodes_left,omitempty"`
	EdgesCreated int `json:"edges_created"`
	EdgesSame    int `json:"edges_same,omitempty"`
	EdgesLeft    int `json:"edges_left,omitempty"`
	// Skipped are pieces of input that could not be understood; see Options.SkipBad.
	Skipped int `json:"skipped,omitempty"`
	// LinksOutside and LinksMissing are links of Markdown files that were not followed:
	// they lead out of the folder, or to nothing.
	LinksOutside int `json:"links_outside,omitempty"`
	LinksMissing int `json:"links_missing,omitempty"`
	// Provenance tells how many memories of the input said where they come from.
	Provenance *Provenance `json:"provenance,omitempty"`
	// Problems are inputs that were taken in differently than meant, such as
	// dates that do not parse; the first MaxProblems of them.
	Problems []Problem `json:"problems,omitempty"`
	// ProblemCount counts all of them.
	ProblemCount int `json:"problem_count"`
}

// Provenance counts what memories say about where they come from.
type Provenance struct {
	Present    int `json:"present"`
	Absent     int `json:"absent"`
	Unreadable int `json:"unreadable"` // each is a problem with its reason
}

// written counts what was made and changed.
func (r *Report) written() int { return r.Created + r.Updated + r.EdgesCreated }

// MaxProblems bounds the list of problems in a Report.
const MaxProblems = 20

// Problem is something in the input that could not be understood.
type Problem struct {
	File   string `json:"file,omitempty"` // of a folder
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

// String tells the place and the reason.
func (p Problem) String() string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s, line %d: %s", p.File, p.Line, p.Reason)
	case p.File != "":
		return p.File + ": " + p.Reason
	case p.Line > 0:
		return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
	}
	return p.Reason
}

func (r *Report) problem(line int, format string, args ...any) {
	r.problemAt(origin{line: line}, format, args...)
}

func (r *Report) problemAt(at origin, format string, args ...any) {
	r.ProblemCount++
	if len(r.Problems) < MaxProblems {
		r.Problems = append(r.Problems, Problem{at.file, at.line, fmt.Sprintf(format, args...)})
	}
}

// FileError is a file of a folder that stops an import.
type FileError struct {
	File string
	Err  error
}

// Error tells the file and the cause.
func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

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
		{r.Files, "file", "files"},
		{r.Statements, "statement", "statements"},
		{r.Memories, "memory", "memories"},
		{r.Conversations, "conversation", "conversations"},
		{r.Sessions, "session", "sessions"},
		{r.Nodes, "node", "nodes"},
		{r.Edges, "edge", "edges"},
		{r.Declared, "declaration", "declarations"},
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

// Outcome tells in one line what became of the nodes and edges, of the formats that
// compare them with what is there; otherwise it is empty.
func (r Report) Outcome() string {
	var parts []string
	for _, c := range []struct {
		what                         string
		created, updated, same, left int
	}{{"nodes", r.Created, r.Updated, r.Same, r.Left}, {"edges", r.EdgesCreated, 0, r.EdgesSame, r.EdgesLeft}} {
		if c.created+c.updated+c.same+c.left == 0 {
			continue
		}
		text := c.what + ": " + strconv.Itoa(c.created) + " new"
		for _, d := range []struct {
			n    int
			word string
		}{{c.updated, "changed"}, {c.same, "there already"}, {c.left, "left as they are"}} {
			if d.n > 0 {
				text += ", " + strconv.Itoa(d.n) + " " + d.word
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

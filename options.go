package engram

import (
	"time"

	"engram/graph"
	"engram/graph/embedder"
	"engram/query"
)

// Options change how a database is opened. The zero value, like nil, has the
// defaults.
type Options struct {
	// Create makes the data directory and the namespace when they are missing.
	// Without it, opening what is not there is an error and changes nothing.
	Create bool
	// ReadOnly opens for reading: nothing on disk changes, so a read-only mount
	// will do.
	ReadOnly bool
	// Namespace is the graph in the directory. Default "default".
	Namespace string
	// Address is told to a second process that wants to open the directory.
	Address string
	// Rebuild makes what is derived from the records anew when a database is
	// opened: the copy of the topology, the text index and the declared indexes.
	// Old files are kept beside; Stats.Notes tell what was done.
	Rebuild bool
	// MaxSize in bytes bounds the graph's file: 32 MiB or more. Zero means a large
	// default. A file that is larger already does not grow.
	MaxSize int64

	// HotColumns are node properties that are kept in memory beside the
	// topology. Nil means the ones that memories use.
	HotColumns []string
	// TextFields are the node properties that are searched as text. Nil means
	// content, title, name and the like.
	TextFields []string
	// RecallLegs are the ways in which RECALL looks: "lexical", "semantic",
	// "associative". Empty means all of them.
	RecallLegs []string
	// RecallOff are parts of RECALL that are switched off, by name; see RecallRules.
	// It is for measuring what each part is good for.
	RecallOff []string

	// StatementTimeout bounds one statement. Default 30 s, negative: no bound.
	StatementTimeout time.Duration
	// StatementMemory bounds what one statement holds at a time, in bytes, by an
	// estimate. Default 256 MiB, negative: no bound. Over it the statement ends with
	// CodeResourceExhausted.
	StatementMemory int64
	// SpoolDir is where results that are read by Rows, and are too large for memory,
	// are kept in temporary files. Default os.TempDir.
	SpoolDir string
	// SpoolSize bounds the temporary file of one result in bytes. Default 4 GiB,
	// negative: no bound. Over it the statement ends with CodeResourceExhausted.
	SpoolSize int64
	// StatementRows bounds the rows of one result. Default 10 million, negative: no
	// bound.
	StatementRows int64
	// StatementSteps bounds the work of one statement: nodes scanned, edges followed
	// and rows handled. Default a billion, negative: no bound.
	StatementSteps int64
	// TxIdle and TxTotal bound a writing transaction that is open: without a
	// statement, and altogether, since it keeps other writers out. Defaults 2 s
	// and 10 s.
	TxIdle, TxTotal time.Duration
	// Embedding says who makes vectors of texts. Default: the table in the program.
	Embedding Embedding
	// AssociateAll joins nodes with the label Memory that CREATE and MERGE make with
	// what is like them, as REMEMBER does: up to three RELATED edges each, of up to 100
	// nodes a statement. Without it such nodes are joined when they are consolidated,
	// and so are imported ones in any case.
	AssociateAll bool
	// NoLearning switches learning off: REINFORCE is not queued, and what was learned
	// before has no effect. Nothing of it is deleted.
	NoLearning bool
	// LearnEvery is how long what was reinforced waits to be written in one batch.
	// Default 5 s, negative: until DrainLearning or Close.
	LearnEvery time.Duration
	// LearnTimer, which also times Embedding.Every, calls fn once after d, unless stop is called before, which then
	// reports true. Default time.AfterFunc.
	LearnTimer func(d time.Duration, fn func()) (stop func() bool)
	// PlanCache is how many plans are kept. Default 1,024; negative: none.
	PlanCache int
	// Now is the clock of the database, read by several goroutines at once. Default
	// time.Now.
	Now func() time.Time

	embedder embedder.Embedder // of Embedding, nil unless it is an endpoint
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Namespace == "" {
		out.Namespace = "default"
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	if out.SpoolSize == 0 {
		out.SpoolSize = 4 << 30
	}
	if out.LearnEvery == 0 {
		out.LearnEvery = 5 * time.Second
	}
	if out.LearnTimer == nil {
		out.LearnTimer = func(d time.Duration, fn func()) func() bool { return time.AfterFunc(d, fn).Stop }
	}
	if out.TxIdle <= 0 {
		out.TxIdle = 2 * time.Second
	}
	if out.TxTotal <= 0 {
		out.TxTotal = 10 * time.Second
	}
	return out
}

// check refuses options that name what there is not, and makes what they name.
func (o *Options) check() (err error) {
	if o.embedder, err = o.Embedding.build(); err != nil {
		return err
	}
	if err := query.CheckLegs(o.RecallLegs); err != nil {
		return &Error{Code: CodeInvalidArgument, Message: err.Error(), Err: err}
	}
	if err := query.CheckRecallOff(o.RecallOff); err != nil {
		return &Error{Code: CodeInvalidArgument, Message: err.Error(), Err: err}
	}
	return nil
}

// RecallRule is a part of RECALL that Options.RecallOff can switch off.
type RecallRule = query.RecallRule

// RecallRules are all parts of RECALL that can be switched off, legs first.
func RecallRules() []RecallRule { return query.RecallRules() }

func (o *Options) graph() *graph.Options {
	return &graph.Options{
		Rebuild: o.Rebuild, HotColumns: o.HotColumns, TextFields: o.TextFields, Now: o.Now,
		Embedder: o.embedder, NoEmbedder: o.Embedding.Provider == "none",
	}
}

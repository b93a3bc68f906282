package graph

import (
	"crypto/rand"
	"io"
	"slices"
	"time"

	"engram/graph/embedder"
	"engram/graph/internal/store"
)

// Options configure a database. Zero fields mean the defaults.
type Options struct {
	// HotColumns are node properties that are kept in memory beside the
	// topology. Reading them touches no record; each costs 9 bytes a node where
	// it is used.
	HotColumns []string
	// TextFields are the node properties that are searched as text.
	TextFields []string
	// Embedder makes the vectors by which texts of similar meaning are found; nil: the
	// table of words in the program. One that calls nobody (embedder.Local) is asked
	// for each change; for others nodes wait until EmbedMissing is called.
	Embedder embedder.Embedder
	// NoEmbedder keeps no vectors at all: 110 bytes less a node with text.
	NoEmbedder bool
	// HubEdges is from how many edges on deleting a node leaves the removal of
	// the edge records to the sweeper. Default 4,096.
	HubEdges int64
	// SweepBlocks is how many blocks of 64 edges the sweeper rewrites in one
	// transaction. Default 256.
	SweepBlocks int
	// IndexChunk is how many elements one transaction adds to a new index or
	// removes from a dropped one: the index of more is made in the background.
	// Default 10,000.
	IndexChunk int
	// IDBlock is how many ids are reserved ahead; closing gives up what is left
	// of them. Default 4,096.
	IDBlock uint64
	// MaxBytes and MaxKeys limit the changes of one transaction. Defaults
	// 64 MiB and 100,000.
	MaxBytes, MaxKeys int
	// IdempotencyKeys is of how many of the newest transactions with a key the keys
	// are remembered. Default 100,000.
	IdempotencyKeys int64
	// MaxLongAge limits the age of a long snapshot. Default 60 s.
	MaxLongAge time.Duration
	// SnapshotBytes is how much is logged at least before the copy of the topology
	// on disk is written anew; for a large graph it is an eighth of the copy's
	// size. Default 4 MiB.
	SnapshotBytes int64
	// TrimEntries is how many entries of the log are gathered before what nobody
	// needs is removed. Default 4,096.
	TrimEntries uint64
	// Rebuild makes what is derived anew when a graph in a directory is opened: the
	// copy of the topology and the text index, whose old files are moved aside, and
	// the declared indexes. Records are not touched.
	Rebuild bool
	// Now is the clock; default time.Now. Several goroutines read it at once. Ids
	// and order never depend on it.
	Now func() time.Time
	// Random gives the database's tag at creation; default crypto/rand.
	Random io.Reader

	// Thresholds that tests lower: see trimEntries and logCap.
	trimEntries, logCap store.Seq

	manual bool // no background work: tests do it step by step
	// keptEvents is how many of the newest events of learning can be taken back; 0:
	// keptEvents.
	keptEvents uint64
}

// DefaultHotColumns are the hot columns unless Options say otherwise.
func DefaultHotColumns() []string {
	return []string{
		"importance", "confidence", "layer", "tier", "status", "created_at",
		"valid_from", "valid_to", "uses", "last_used", "position",
	}
}

// DefaultTextFields are the text fields unless Options say otherwise.
func DefaultTextFields() []string {
	return []string{
		"content", "title", "name", "speaker", "text", "summary", "description", "question", "answer", "date",
	}
}

func (o Options) withDefaults() Options {
	if o.HotColumns == nil {
		o.HotColumns = DefaultHotColumns()
	}
	if o.TextFields == nil {
		o.TextFields = DefaultTextFields()
	}
	o.HotColumns, o.TextFields = slices.Clone(o.HotColumns), slices.Clone(o.TextFields)
	orDefault(&o.HubEdges, 4096)
	orDefault(&o.SweepBlocks, 256)
	orDefault(&o.IndexChunk, 10_000)
	orDefault(&o.IDBlock, 4096)
	orDefault(&o.MaxBytes, 64<<20)
	orDefault(&o.MaxKeys, 100_000)
	orDefault(&o.IdempotencyKeys, idemKeep)
	orDefault(&o.MaxLongAge, time.Minute)
	orDefault(&o.SnapshotBytes, 4<<20)
	orDefault(&o.trimEntries, store.Seq(o.TrimEntries))
	orDefault(&o.trimEntries, trimEntries)
	orDefault(&o.logCap, logCap)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o
}

func orDefault[T int | int64 | uint64 | store.Seq | time.Duration](field *T, def T) {
	if *field <= 0 {
		*field = def
	}
}

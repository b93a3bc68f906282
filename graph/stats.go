package graph

import (
	"slices"
	"strings"

	"engram/graph/internal/catalog"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// Stats are counters and sizes of a database.
type Stats struct {
	Seq    uint64
	Nodes  int64
	Edges  int64
	Labels []NamedCount // by name
	Types  []NamedCount // by name
	Keys   int          // property keys
	// Withheld counts statements that were refused for asking for what is withheld.
	Withheld int64

	// Store counts since opening: committed Applies, pages and bytes handed to
	// the file. The memory driver counts Applies only.
	Store StoreStats
	// Commits, Groups and Lost count transactions made durable, the Applies that
	// did it, and transactions that were lost.
	Commits, Groups, Lost uint64
	Snapshots             int // open ones
	// Unswept is how many deleted hubs, at most 1,000, still have edge records.
	Unswept int
	// Background is the last error of the sweeper, AckError of the file of
	// acknowledged seqs; nil when all is well.
	Background, AckError error
	Text                 TextStats
	Vectors              VectorStats
	Topology             TopologyStats
	Learning             LearningStats
	// Notes tell what opening found odd and could deal with, such as a damaged copy
	// of the topology.
	Notes []string
}

// TopologyStats tell about the copy of the topology on disk.
type TopologyStats struct {
	OpenedAt  uint64 // seq of the file that opening took it from; 0: from the records
	FileSeq   uint64 // of the file now; 0: there is none
	FileBytes int64
	Written   int64 // files written since opening
	Err       error // of the last attempt to write it
}

// TextStats tell how the text index follows.
type TextStats struct {
	// Published is the newest seq that searches see; Applied is the one that the
	// files hold, which the log makes up for at the next opening.
	Published, Applied uint64
	// Err is what keeps the files behind, such as a full disk; nil when all is well.
	Err error
}

// VectorStats tell how the vectors of texts follow.
type VectorStats struct {
	Model string // what makes them; "": there are none
	// Published is the newest seq that searches see; Applied is the one that the
	// files hold. Both are 0 while they are being opened.
	Published, Applied uint64
	Live, Pending      int // nodes with a vector, and waiting for one
	// Err is what keeps the files behind, or kept vectors from being opened; nil when
	// all is well.
	Err error
}

// NamedCount is how often a label or a type is used.
type NamedCount struct {
	Name  string
	Count int64
}

// StoreStats are the counters of the store.
type StoreStats struct {
	Applies      uint64
	Syncs        uint64 // for what was committed
	PagesWritten uint64
	BytesWritten uint64
	FileBytes    int64
	UsedBytes    int64
	FreePages    int
	PageBytes    int
}

// Stats reads the counters.
func (db *DB) Stats() (Stats, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return Stats{}, wrap(err)
	}
	s, seq := snap.Version(), snap.Seq()
	snap.Close()
	e := db.engine.Stats()
	out := Stats{
		Seq: uint64(seq), Nodes: s.topo.NodeCount(0), Edges: s.topo.EdgeCount(0),
		Keys:  s.names.Len(catalog.Key),
		Store: storeStats(db.engine.Driver().Stats()), Commits: e.Commits, Groups: e.Groups, Lost: e.Lost, Snapshots: e.Snapshots,
		Unswept: len(s.topo.Doomed(1000, nil)), Background: db.tidyErr.get(), AckError: e.LastAckError,
	}
	ts := db.text.Stats()
	out.Text = TextStats{Published: ts.Published, Applied: ts.Applied, Err: ts.LastError}
	out.Vectors = db.vectors.stats()
	out.Labels = counts(s.names, catalog.Label, func(id uint32) int64 { return s.topo.NodeCount(value.LabelID(id)) })
	out.Types = counts(s.names, catalog.RelType, func(id uint32) int64 { return s.topo.EdgeCount(value.TypeID(id)) })
	out.Learning = db.learningStats()
	out.Topology, out.Notes = db.topoFile.stats(), slices.Concat(db.place.notes, db.notes)
	return out, nil
}

func storeStats(s store.Stats) StoreStats {
	return StoreStats{
		Applies: s.Applies, Syncs: s.Syncs, PagesWritten: s.PagesWritten, BytesWritten: s.BytesWritten,
		FileBytes: s.FileBytes, UsedBytes: s.UsedBytes, FreePages: s.FreePages, PageBytes: s.PageBytes,
	}
}

// counts lists the names of a class that are in use, sorted.
func counts(names *catalog.Catalog, class catalog.Class, count func(id uint32) int64) []NamedCount {
	var out []NamedCount
	for id := uint32(1); int(id) <= names.Len(class); id++ {
		if n := count(id); n > 0 {
			out = append(out, NamedCount{Name: names.Name(class, id), Count: n})
		}
	}
	slices.SortFunc(out, func(a, b NamedCount) int { return strings.Compare(a.Name, b.Name) })
	return out
}

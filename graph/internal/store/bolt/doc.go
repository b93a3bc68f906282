// Package bolt is the store driver over bbolt: one file, one bucket for each
// space, one read-write transaction for each Apply.
//
// The whole file is mapped once with room for MaxSize, so that bbolt never remaps:
// a remap would wait for every open reader, and the engine always keeps one open.
//
// bbolt trusts its file, and its pages have no checksum: a lookup in a damaged page
// may just not find a key. So a file is inspected with plain reads before bbolt maps
// it (length, meta pages, roots), bbolt writes but does not read: readers walk its
// pages here and verify each once (see pages), and so do commits before bbolt reads
// what it is going to write anew. A panic or a memory fault becomes an error.
package bolt

// Format is the version of the layout: bucket names, header, meaning of the spaces.
//
//	1  first
const Format = 1

// headerBucket holds what the driver itself needs: it is small, so bbolt keeps it
// inside the root page, which every commit rewrites anyway.
var (
	headerBucket = []byte("engram")
	formatKey    = []byte("format")
	seqKey       = []byte("seq")
)

// bucketNames are part of the file format, by space.
var bucketNames = [...]string{
	"meta", "names", "nodes", "edges", "log", "index", "overflow", "idempotency", "activity", "weights",
}

// Package bolt is the store driver over bbolt: one file, one bucket for each
// space, one read-write transaction for each Apply.
//
// The whole file is mapped once with room for MaxSize, so that bbolt never remaps:
// a remap would wait for every open reader, and the engine always keeps one open.
//
// bbolt trusts its file. So a file is inspected with plain reads before bbolt maps
// it (length, meta pages), and every call into bbolt turns a panic or a memory
// fault on a damaged page into an error.
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

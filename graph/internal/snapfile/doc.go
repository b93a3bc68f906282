// Package snapfile is a file of checksummed chunks that appears whole or not at
// all. It keeps what can be made anew from the truth but would take long: it
// belongs to one database and to one seq, and whatever is wrong with it is
// noticed before a byte of it is used.
//
//	header | chunk ... | table: kind, length and checksum of every chunk | footer
//
// The checksum of a chunk (CRC32C) covers database, seq and the chunk's place
// too, so that a chunk of another file or an older one in its place is noticed.
// The checksum in the footer covers header and table, and with the table's
// checksums everything. All numbers are little endian.
//
// History of Format:
//
//	1  first
package snapfile

// Format is the version of the container; Header.Content is that of what is in it.
const Format = 1

const (
	headMark   = "engrsnap"
	endMark    = "engrsend"
	headSize   = 8 + 4 + 4 + 8 + 8 // mark, format, content, tag, seq
	entrySize  = 1 + 4 + 4         // kind, length, checksum
	footerSize = 8 + 4 + 4 + 8     // table's offset, chunks, checksum, mark

	// MaxChunk bounds a chunk's payload in bytes.
	MaxChunk = 1 << 30

	// syncEvery is how many bytes are written before they are synced, so that the
	// disk never has to take all of a large file at once while commits wait for it.
	syncEvery = 16 << 20

	// NewSuffix is where a file is written before it takes its place,
	// DamagedSuffix where one goes that could not be used.
	NewSuffix     = ".new"
	DamagedSuffix = ".damaged"
)

// Header says what a file belongs to.
type Header struct {
	Content uint32 // version of what the chunks hold
	Tag     uint64 // of the database
	Seq     uint64 // the transaction it stands at
}

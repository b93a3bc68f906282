package powerloss

// op is the kind of an event.
type op uint8

const (
	opWrite    op = iota // data at offset into inode
	opSize               // inode gets length size
	opLink               // name in dir points to inode
	opUnlink             // name in dir is removed
	opRename             // opUnlink of fromDir/from and opLink in one
	opExchange           // the names in dir and fromDir point to each other's inodes
	opSync               // inode, a file or a directory, is synced
	opBegin              // transaction n begins
	opAck                // transaction n is acknowledged
)

// event is one call that returned success, in the order of the returns.
type event struct {
	op     op
	inode  int
	other  int // of an exchange: the inode that name had
	offset int64
	data   []byte
	size   int64
	dir    int
	name   string
	from   string
	// fromDir is the directory that a rename takes the name from.
	fromDir int
	n       int
	// begun is how many events had returned when a sync was called: those it
	// covers.
	begun int
}

// place is the inode whose sync makes the event durable.
func (e *event) place() int {
	switch e.op {
	case opLink, opUnlink, opRename, opExchange:
		return e.dir
	default:
		return e.inode
	}
}

// Log is what a process did to a directory.
type Log struct {
	base   *disk
	events []event
	kinds  map[int]bool // inode: is it a directory
}

// Events is how many events the log has.
func (l *Log) Events() int { return len(l.events) }

// Syncs is how many syncs the log has.
func (l *Log) Syncs() int {
	n := 0
	for i := range l.events {
		if l.events[i].op == opSync {
			n++
		}
	}
	return n
}

// Bounds returns what was acknowledged and begun at last, -1 for nothing.
func (l *Log) Bounds() (acked, begun int) { return l.bounds(len(l.events)) }

// bounds returns what was acknowledged and begun before event i, -1 for nothing.
// Messages that directly follow change nothing on the disk, so they count.
func (l *Log) bounds(i int) (acked, begun int) {
	for i < len(l.events) && l.events[i].op >= opBegin {
		i++
	}
	acked, begun = -1, -1
	for j := range l.events[:i] {
		switch e := &l.events[j]; e.op {
		case opAck:
			acked = max(acked, e.n)
		case opBegin:
			begun = max(begun, e.n)
		default:
		}
	}
	return acked, begun
}

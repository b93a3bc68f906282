package powerloss

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// rootInode is the directory that is watched.
const rootInode = 1

// sector is what a disk writes whole, in bytes.
const sector = 512

// disk is a directory tree: contents by inode, and names by directory.
type disk struct {
	files map[int][]byte
	dirs  map[int]map[string]int
}

func newDisk() *disk {
	return &disk{files: map[int][]byte{}, dirs: map[int]map[string]int{rootInode: {}}}
}

// readDisk reads a directory. A missing one is empty.
func readDisk(root string, next *int, kinds map[int]bool) (*disk, error) {
	d := newDisk()
	kinds[rootInode] = true
	inodes := map[string]int{".": rootInode}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		*next++
		inode := *next
		kinds[inode] = e.IsDir()
		inodes[rel] = inode
		d.dirs[inodes[filepath.Dir(rel)]][e.Name()] = inode
		if e.IsDir() {
			d.dirs[inode] = map[string]int{}
			return nil
		}
		d.files[inode], err = os.ReadFile(path)
		return err
	})
	if os.IsNotExist(err) {
		err = nil
	}
	return d, err
}

// fork returns a disk that shares file contents until they are written to through
// own.
func (d *disk) fork() *disk {
	next := &disk{files: maps.Clone(d.files), dirs: make(map[int]map[string]int, len(d.dirs))}
	for inode, names := range d.dirs {
		next.dirs[inode] = maps.Clone(names)
	}
	return next
}

// names returns the names of a directory, which may not be known yet.
func (d *disk) names(dir int) map[string]int {
	if d.dirs[dir] == nil {
		d.dirs[dir] = map[string]int{}
	}
	return d.dirs[dir]
}

// apply does an event; land, when not nil, tells which sectors of a write land.
func (d *disk) apply(e *event, land func() bool) {
	switch e.op {
	case opWrite:
		d.write(e, land)
	case opSize:
		d.resize(e.inode, e.size)
	case opLink:
		d.names(e.dir)[e.name] = e.inode
	case opUnlink:
		delete(d.names(e.dir), e.name)
	case opRename:
		if d.names(e.fromDir)[e.from] == e.inode {
			delete(d.names(e.fromDir), e.from)
		}
		d.names(e.dir)[e.name] = e.inode
	case opExchange:
		d.names(e.fromDir)[e.from] = e.other
		d.names(e.dir)[e.name] = e.inode
	case opSync, opBegin, opAck:
	}
}

func (d *disk) resize(inode int, size int64) {
	old := d.files[inode]
	if int64(len(old)) >= size {
		d.files[inode] = old[:size:size]
		return
	}
	// Room behind the length may be shared with a fork, which is done with by then.
	d.files[inode] = append(old, make([]byte, size-int64(len(old)))...)
}

// write changes the content in place; see own.
func (d *disk) write(e *event, land func() bool) {
	step := len(e.data)
	if land != nil {
		step = sector
	}
	for at := 0; at < len(e.data); at += step {
		if land != nil && !land() {
			continue
		}
		part := e.data[at:min(at+step, len(e.data))]
		offset := e.offset + int64(at)
		if need := offset + int64(len(part)); need > int64(len(d.files[e.inode])) {
			d.resize(e.inode, need)
		}
		copy(d.files[e.inode][offset:], part)
	}
}

// own makes the content of the inodes that the events write to private.
func (d *disk) own(events []*event) {
	done := map[int]bool{}
	for _, e := range events {
		if e.op == opWrite && !done[e.inode] {
			done[e.inode] = true
			d.files[e.inode] = bytes.Clone(d.files[e.inode])
		}
	}
}

const block = 4096

// store writes the tree into an empty directory; blocks of zeros become holes.
func (d *disk) store(root string, kinds map[int]bool) error {
	return d.storeDir(root, rootInode, kinds, map[int]bool{})
}

func (d *disk) storeDir(path string, dir int, kinds, above map[int]bool) error {
	if above[dir] {
		return fmt.Errorf("%s is inside itself", path)
	}
	above[dir] = true
	defer delete(above, dir)
	for _, name := range slices.Sorted(maps.Keys(d.dirs[dir])) {
		inode := d.dirs[dir][name]
		at := filepath.Join(path, name)
		if kinds[inode] {
			if err := os.Mkdir(at, 0o700); err != nil {
				return err
			}
			if err := d.storeDir(at, inode, kinds, above); err != nil {
				return err
			}
			continue
		}
		if err := storeFile(at, d.files[inode]); err != nil {
			return err
		}
	}
	return nil
}

func storeFile(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := f.Truncate(int64(len(content))); err != nil {
		return err
	}
	var zeros [block]byte
	for at := 0; at < len(content); at += block {
		part := content[at:min(at+block, len(content))]
		if bytes.Equal(part, zeros[:len(part)]) {
			continue
		}
		if _, err := f.WriteAt(part, int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// difference tells the first way in which two trees differ, or nothing.
func (d *disk) difference(other *disk) string { return d.diffDir(other, ".", rootInode, rootInode) }

func (d *disk) diffDir(other *disk, path string, a, b int) string {
	mine, theirs := d.dirs[a], other.dirs[b]
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		at := filepath.Join(path, name)
		x := mine[name]
		y, ok := theirs[name]
		_, dirX := d.dirs[x]
		_, dirY := other.dirs[y]
		switch {
		case !ok:
			return at + " is missing"
		case dirX != dirY:
			return at + " is of another kind"
		case dirX:
			if diff := d.diffDir(other, at, x, y); diff != "" {
				return diff
			}
		case !bytes.Equal(d.files[x], other.files[y]):
			return fmt.Sprintf("%s differs: %d and %d bytes", at, len(d.files[x]), len(other.files[y]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := mine[name]; !ok {
			return filepath.Join(path, name) + " is too much"
		}
	}
	return ""
}

package faulttest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"testing"

	"go.etcd.io/bbolt"
)

// span is a range of a file's bytes.
type span struct{ from, to int64 }

// usedBytes are the bytes of a bbolt file that its newest transaction needs: meta
// pages, and of the other pages that are not free the header, the elements, the
// keys and the values.
func usedBytes(t *testing.T, path string) (spans []span, pageSize int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pageSize = int64(db.Info().PageSize)
	err = db.View(func(tx *bbolt.Tx) error {
		for id := 0; int64(id)*pageSize < tx.Size(); {
			info, err := tx.Page(id)
			if err != nil {
				return err
			}
			start := int64(id) * pageSize
			id++
			if info.Type == "free" {
				continue // the rest of its header is from another life
			}
			id += info.OverflowCount
			used := int64(0)
			switch info.Type {
			case "meta":
				used = 16 + 64
			case "leaf", "branch":
				used = treeBytes(raw[start:], info.Type == "leaf", info.Count)
			case "freelist":
				used = 16 + 8*int64(info.Count)
			}
			if used > 0 {
				spans = append(spans, span{start, start + used})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return spans, pageSize
}

// treeBytes is how many bytes from its start on a tree page uses.
func treeBytes(page []byte, leaf bool, count int) int64 {
	end := int64(16 + 16*count)
	for i := range count {
		at := 16 + 16*i
		e := page[at:]
		pos, size := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		if leaf {
			pos, size = binary.NativeEndian.Uint32(e[4:]), binary.NativeEndian.Uint32(e[8:])+binary.NativeEndian.Uint32(e[12:])
		}
		end = max(end, int64(at)+int64(pos)+int64(size))
	}
	return end
}

// canonical numbers the pages of a bbolt file anew, in the order in which they are met
// from the root, leaves free pages out, and clears what is in no page: the same
// keys in the same pages give the same file.
func canonical(raw []byte) []byte {
	const size, header = 4096, 16
	le := binary.NativeEndian
	meta := raw[header:]
	if le.Uint64(raw[size+header+48:]) > le.Uint64(meta[48:]) {
		meta = raw[size+header:]
	}
	out := make([]byte, 2*size)
	var move func(id uint64) uint64
	move = func(id uint64) uint64 {
		from := raw[id*size:]
		length := (uint64(le.Uint32(from[12:])) + 1) * size
		at := uint64(len(out))
		out = append(out, from[:length]...)
		le.PutUint64(out[at:], at/size)
		kind, count := le.Uint16(from[8:]), int(le.Uint16(from[10:]))
		for i := range count {
			e := uint64(header + 16*i)
			switch {
			case kind == 1:
				child := move(le.Uint64(from[e+8:]))
				le.PutUint64(out[at+e+8:], child)
			case kind == 2 && le.Uint32(from[e:]) == 1: // a bucket
				value := e + uint64(le.Uint32(from[e+4:])) + uint64(le.Uint32(from[e+8:]))
				if root := le.Uint64(from[value:]); root != 0 {
					root = move(root)
					le.PutUint64(out[at+value:], root)
				}
			}
		}
		return at / size
	}
	root := move(le.Uint64(meta[16:]))
	list := uint64(len(out)) / size
	out = append(out, make([]byte, size)...)
	le.PutUint64(out[list*size:], list)
	le.PutUint16(out[list*size+8:], 0x10)
	for i := range uint64(2) { // the other one tells of the transaction before, with the same content
		m := out[i*size:]
		le.PutUint64(m, i)
		le.PutUint16(m[8:], 4)
		copy(m[header:], meta[:64])
		le.PutUint64(m[header+16:], root)
		le.PutUint64(m[header+32:], list)
		le.PutUint64(m[header+40:], list+1)
		le.PutUint64(m[header+48:], 100+i)
		sum := fnv.New64a()
		_, _ = sum.Write(m[header : header+56])
		le.PutUint64(m[header+56:], sum.Sum64())
	}
	return out
}

// total is how many bytes spans have; at gives the nth of them.
func total(spans []span) (n int64) {
	for _, s := range spans {
		n += s.to - s.from
	}
	return n
}

func at(spans []span, n int64) int64 {
	for _, s := range spans {
		if n < s.to-s.from {
			return s.from + n
		}
		n -= s.to - s.from
	}
	panic("beyond the spans")
}

// where describes a byte of a bbolt file.
func where(t *testing.T, path string, offset int64, bit uint) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4096
	start := offset / size * size
	for start > 0 && binary.NativeEndian.Uint64(raw[start:]) != uint64(start/size) {
		start -= size // inside a longer page
	}
	page, in := raw[start:], int(offset-start)
	kind, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	what := fmt.Sprintf("page %d of kind %#x, byte %d, bit %d", start/size, kind, in, bit)
	if in < 16 || kind > 2 {
		return what
	}
	if in < 16+16*count {
		return fmt.Sprintf("%s: element %d, byte %d", what, (in-16)/16, (in-16)%16)
	}
	for i := range count {
		at := 16 + 16*i
		pos, key, value := int(binary.NativeEndian.Uint32(page[at:])), int(binary.NativeEndian.Uint32(page[at+4:])), 0
		if kind == 2 {
			pos, key, value = int(binary.NativeEndian.Uint32(page[at+4:])), int(binary.NativeEndian.Uint32(page[at+8:])), int(binary.NativeEndian.Uint32(page[at+12:]))
		}
		if in >= at+pos && in < at+pos+key+value {
			return fmt.Sprintf("%s: key %x, byte %d of the key's %d and the value's %d", what, page[at+pos:at+pos+key], in-at-pos, key, value)
		}
	}
	return what
}

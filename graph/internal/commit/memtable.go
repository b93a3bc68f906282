package commit

import (
	"bytes"

	"github.com/tidwall/btree"

	"engram/graph/internal/store"
)

// pendingValue is the newest value of a key, stamped with the seq that wrote it.
type pendingValue struct {
	seq   store.Seq
	value []byte
}

// memtable holds the newest value of each key of the write-sets that are finished
// but not known to be durable. Only the holder of the write slot touches it, so it
// needs no lock and only the newest value of a key.
type memtable struct {
	epoch  uint64 // of the engine when it was last valid, see Engine.epoch
	spaces [store.SpaceCount]btree.Map[string, pendingValue]
}

func (m *memtable) add(seq store.Seq, puts []store.Put) {
	for _, p := range puts {
		m.spaces[p.Space].Set(string(p.Key), pendingValue{seq, p.Value})
	}
}

// remove drops what the write-set of seq wrote, except keys written again later.
func (m *memtable) remove(seq store.Seq, puts []store.Put) {
	for _, p := range puts {
		key := string(p.Key)
		if v, ok := m.spaces[p.Space].Get(key); ok && v.seq == seq {
			m.spaces[p.Space].Delete(key)
		}
	}
}

func (m *memtable) clear() {
	for i := range m.spaces {
		m.spaces[i].Clear()
	}
}

// get returns the pending value; ok tells whether the key was changed at all.
func (m *memtable) get(space store.Space, key []byte) (value []byte, ok bool) {
	if m.spaces[space].Len() == 0 {
		return nil, false
	}
	v, ok := m.spaces[space].Get(string(key))
	return v.value, ok
}

func (m *memtable) changes(space store.Space, from, to []byte) []change {
	var out []change
	m.spaces[space].Ascend(string(from), func(k string, v pendingValue) bool {
		key := []byte(k)
		if to != nil && bytes.Compare(key, to) >= 0 {
			return false
		}
		out = append(out, change{key, v.value})
		return true
	})
	return out
}

package topo

import (
	"slices"
	"sync"
	"sync/atomic"

	"engram/graph/value"
)

const (
	maxInterned     = 1 << 16 // distinct hot strings
	maxInternedSize = 64      // bytes of one
)

// shared holds what all versions of one topology have in common: interned label
// sets and strings. It only grows, and its numbers never leave the topology, so
// an editor whose version is dropped leaves nothing behind that matters.
type shared struct {
	columns []string
	sets    interner[string, []value.LabelID]
	strings interner[string, string]
}

// interner numbers values from 0. Reading a number takes no lock.
type interner[K comparable, V any] struct {
	mu   sync.Mutex
	byK  map[K]uint32
	list atomic.Pointer[[]V]
}

func (in *interner[K, V]) intern(k K, make func() V, limit int) (uint32, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if n, ok := in.byK[k]; ok {
		return n, true
	}
	var list []V
	if p := in.list.Load(); p != nil {
		list = *p
	}
	if len(list) >= limit {
		return 0, false
	}
	if in.byK == nil {
		in.byK = map[K]uint32{}
	}
	// Appending behind the published length disturbs no reader.
	list = append(list, make())
	n := uint32(len(list) - 1)
	in.byK[k] = n
	in.list.Store(&list)
	return n, true
}

func (in *interner[K, V]) at(n uint32) V { return (*in.list.Load())[n] }

// internLabels numbers a set of labels; number 0 is the empty set.
func (s *shared) internLabels(labels []value.LabelID) uint32 {
	sorted := slices.Clone(labels)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	key := make([]byte, 0, 4*len(sorted))
	for _, l := range sorted {
		key = append(key, byte(l>>24), byte(l>>16), byte(l>>8), byte(l))
	}
	n, _ := s.sets.intern(string(key), func() []value.LabelID { return sorted }, 1<<32-1)
	return n
}

func (s *shared) internString(str string) (uint32, bool) {
	if len(str) > maxInternedSize {
		return 0, false
	}
	own := string(append([]byte(nil), str...))
	return s.strings.intern(own, func() string { return own }, maxInterned)
}

package value

import (
	"sort"
	"unsafe"
)

// MapData is the content of a map value: entries in ascending order of key,
// each key once.
type MapData struct{ Entries []Prop }

// Get returns the value at key, and whether the key is there.
func (m *MapData) Get(key string) (Value, bool) {
	i := sort.Search(len(m.Entries), func(i int) bool { return m.Entries[i].Key >= key })
	if i < len(m.Entries) && m.Entries[i].Key == key {
		return m.Entries[i].Value, true
	}
	return Null, false
}

// Map makes a map from entries in any order. Of entries with the same key the
// last one stays. It takes over the slice.
func Map(entries []Prop) Value {
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].Key < entries[j].Key })
	kept := entries[:0]
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].Key == e.Key {
			continue
		}
		kept = append(kept, e)
	}
	words, depth := weighProps(kept)
	return Value{
		what: describe(KindMap, saturated(words), deeper(depth)), ptr: unsafe.Pointer(&MapData{Entries: kept}),
	}
}

// AsMap returns the content of a map value, or nil for another kind.
func (v Value) AsMap() *MapData {
	if v.Kind() != KindMap {
		return nil
	}
	return (*MapData)(v.ptr)
}

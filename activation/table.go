package activation

// table maps ids to small indexes: open addressing with linear probing, so that
// memory and clearing cost what was touched and not what there is.
type table struct {
	slots []slot // a power of two; index 0 means empty
	used  int
}

type slot struct {
	id    ID
	index int32 // plus 1
}

// spot returns where an id is, or belongs. Multiplication by 2^64 over the golden
// ratio spreads dense ids (Knuth, The Art of Computer Programming, 6.4).
func (t *table) spot(id ID) *slot {
	mask := uint64(len(t.slots) - 1)
	for at := uint64(id) * 0x9E3779B97F4A7C15 >> 20 & mask; ; at = (at + 1) & mask {
		if s := &t.slots[at]; s.index == 0 || s.id == id {
			return s
		}
	}
}

func (t *table) get(id ID) (int32, bool) {
	if t.used == 0 {
		return 0, false
	}
	s := t.spot(id)
	return s.index - 1, s.index != 0
}

// clear empties the table and keeps its memory.
func (t *table) clear() {
	if t.used > 0 {
		clear(t.slots)
		t.used = 0
	}
}

// put adds an id that is not there yet.
func (t *table) put(id ID, index int32) {
	if 2*(t.used+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]slot, max(256, 2*len(old)))
		for _, s := range old {
			if s.index != 0 {
				*t.spot(s.id) = s
			}
		}
	}
	*t.spot(id) = slot{id, index + 1}
	t.used++
}

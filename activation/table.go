package activation

const pageBits = 12

// table maps ids to small indexes without hashing: pages of a directory, made
// when an id in their range is first touched.
type table struct {
	pages [][]int32 // index + 1; 0: absent
}

func (t *table) get(id ID) (int32, bool) {
	p := id >> pageBits
	if p >= ID(len(t.pages)) || t.pages[p] == nil {
		return 0, false
	}
	i := t.pages[p][id&(1<<pageBits-1)]
	return i - 1, i != 0
}

func (t *table) put(id ID, index int32) {
	p := id >> pageBits
	for p >= ID(len(t.pages)) {
		t.pages = append(t.pages, make([][]int32, max(1, int(p)+1-len(t.pages)))...)
	}
	if t.pages[p] == nil {
		t.pages[p] = make([]int32, 1<<pageBits)
	}
	t.pages[p][id&(1<<pageBits-1)] = index + 1
}

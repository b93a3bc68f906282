package topo

// Visited is a set of slots that is emptied in constant time: an array of marks
// and the epoch that counts as set. Four bytes a slot; keep one for each
// goroutine that traverses.
type Visited struct {
	mark  []uint32
	epoch uint32
}

// Reset empties the set and makes room for slots below n.
func (s *Visited) Reset(n uint32) {
	if int(n) > len(s.mark) {
		s.mark = make([]uint32, int(n)+int(n)/8)
		s.epoch = 0
	}
	s.epoch++
	if s.epoch == 0 { // wrapped: old marks would count again
		clear(s.mark)
		s.epoch = 1
	}
}

// Add puts a slot in and reports whether it was not there before.
func (s *Visited) Add(slot Slot) bool {
	if s.mark[slot] == s.epoch {
		return false
	}
	s.mark[slot] = s.epoch
	return true
}

// Has reports whether the slot is in the set.
func (s *Visited) Has(slot Slot) bool { return s.mark[slot] == s.epoch }

package physical

import "engram/graph/value"

// denseMarks bounds the arrays of one nodeMarks to 40 MiB.
const denseMarks = 1 << 22

// nodeMarks maps nodes to small numbers and is emptied in no time: each mark
// counts only when it is of the current epoch. Ids beyond the array go to a map.
type nodeMarks struct {
	epochs []uint32
	values []int32
	epoch  uint32
	far    map[value.NodeID]int32
}

func (m *nodeMarks) reset() {
	if m.epoch++; m.epoch == 0 {
		clear(m.epochs)
		m.epoch = 1
	}
	clear(m.far)
}

func (m *nodeMarks) get(id value.NodeID) (int32, bool) {
	if id >= denseMarks {
		v, ok := m.far[id]
		return v, ok
	}
	if int(id) >= len(m.epochs) || m.epochs[id] != m.epoch {
		return 0, false
	}
	return m.values[id], true
}

func (m *nodeMarks) add(id value.NodeID, v int32) {
	if id >= denseMarks {
		if m.far == nil {
			m.far = map[value.NodeID]int32{}
		}
		m.far[id] = v
		return
	}
	if int(id) >= len(m.epochs) {
		n := max(1024, int(id)+int(id)/4+1)
		epochs, values := make([]uint32, n), make([]int32, n)
		copy(epochs, m.epochs)
		copy(values, m.values)
		m.epochs, m.values = epochs, values
	}
	m.epochs[id], m.values[id] = m.epoch, v
}

package physical

import (
	"engram/activation"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/recall"
)

// use notes that a memory was of use to the statement.
func (x *exec) use(id value.NodeID, strength float64) bool {
	if x.in.Learn == nil {
		return false
	}
	x.used = append(x.used, value.UsedNode{Node: id, Strength: strength})
	return true
}

// remembered notes that REMEMBER made a memory, and decided on what it goes with.
func (x *exec) remembered(id value.NodeID) {
	if x.told == nil {
		x.told = map[value.NodeID]bool{}
	}
	x.told[id] = true
}

// recalled notes which rows of a RECALL its own words or seeds found, and with
// REINFORCE that all of them are of use, as much as they scored.
func (x *exec) recalled(rows []recall.Row, reinforce bool) {
	if x.in.Learn == nil {
		return
	}
	if x.named == nil {
		x.named = map[value.NodeID]bool{}
	}
	for _, r := range rows {
		if r.Seed {
			x.named[r.Node] = true
		}
		if reinforce && rows[0].Score > 0 {
			x.use(r.Node, r.Score/rows[0].Score)
		}
	}
}

// learn hands on what the statement used, as memories that were used together.
func (inst *instance) learn() {
	inst.remind()
	if len(inst.used) == 0 {
		return
	}
	for i, u := range inst.used {
		inst.used[i].Seed = inst.named[u.Node]
	}
	inst.in.Learn(value.Use{At: inst.start.UnixMilli(), Nodes: inst.used})
}

// mindedNode is a memory that was reinforced in a conversation.
type mindedNode struct {
	id           value.NodeID
	strength     float64
	conversation string
}

// remind moves working memory by what the statement reinforced, in that order.
func (inst *instance) remind() {
	if inst.in.Minds == nil {
		return
	}
	for _, m := range inst.minded {
		// Only an order among equals at the edge of what is held depends on ids, so one
		// that cannot be read is no reason to fail.
		less := func(a, b activation.ID) bool {
			x, errX := inst.r.ElementID(value.NodeID(a))
			y, errY := inst.r.ElementID(value.NodeID(b))
			if errX != nil || errY != nil || x == y {
				return a < b
			}
			return x < y
		}
		_ = inst.in.Minds.With(m.conversation, func(w *activation.WorkingMemory) error {
			w.Reinforce(activation.ID(m.id), m.strength, less)
			return nil
		})
	}
}

// Minded implements lifecycle.Graph.
func (c changes) Minded(id value.NodeID, strength float64, conversation string) {
	c.f.minded = append(c.f.minded, mindedNode{id, strength, conversation})
}

// Use implements lifecycle.Graph.
func (c changes) Use(id value.NodeID, strength float64) bool { return c.f.use(id, strength) }

// Under implements lifecycle.Graph.
func (c changes) Under() access.Reader { return c.Reader }

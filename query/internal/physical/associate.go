package physical

import (
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/lifecycle"
)

// mostAssociated is of how many new memories in one statement each is associated; a
// statement that makes more is a load, whose memories are associated when they are
// consolidated.
const mostAssociated = 100

// associateMade joins the memories that the statement made by other clauses than
// REMEMBER with what is like them. That it cannot be never keeps a memory from
// being stored, unless the statement has ended.
func (inst *instance) associateMade() error {
	if inst.w == nil || !inst.in.AssociateAll {
		return nil
	}
	label, ok := inst.r.Label(vocab.LabelMemory)
	if !ok {
		return nil
	}
	var ids []value.NodeID
	for e := range inst.w.made {
		if id := value.NodeID(e.id); !e.edge && !inst.told[id] && inst.r.HasLabel(id, label) {
			ids = append(ids, id)
		}
	}
	if len(ids) > mostAssociated {
		return nil
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := inst.root.parts[0].frame.associate(id); err != nil {
			return err
		}
	}
	return nil
}

// associate joins a new memory with what is like it: with what was found before the
// write slot was taken, else with what is found now.
func (f *frame) associate(id value.NodeID) error {
	g := changes{f.r, f}
	key, ok := f.r.Key(vocab.KeyContent)
	if !ok {
		return nil
	}
	text, err := f.r.NodeProp(id, key)
	if err != nil || text.AsString() == "" {
		return f.ctx.Err()
	}
	matches, found := f.in.Matches[text.AsString()]
	if !found {
		if matches, err = lifecycle.Matches(g, text.AsString()); err != nil {
			return f.ctx.Err()
		}
	}
	if _, err := lifecycle.Associate(g, id, matches); err != nil {
		return f.ctx.Err()
	}
	return f.step(len(matches) + 1)
}

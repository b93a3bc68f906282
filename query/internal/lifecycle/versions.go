package lifecycle

import (
	"cmp"
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Changes reports whether another text for a node is another version of a memory:
// it is an active one, of the label Memory or of a tier, and says something else.
// Telemetry and verdicts are no memories.
func Changes(g Graph, id value.NodeID, text value.Value) (bool, error) {
	if text.Kind() != value.KindString || text.AsString() == "" {
		return false, nil
	}
	if labelled(g, id, vocab.LabelTelemetry) || labelled(g, id, vocab.LabelVerdict) {
		return false, nil
	}
	if !labelled(g, id, vocab.LabelMemory) {
		t, err := prop(g, id, vocab.KeyTier)
		if err != nil || !tier(t) {
			return false, err
		}
	}
	was, err := content(g, id)
	if err != nil || was == "" || was == text.AsString() {
		return false, err
	}
	now, err := status(g, id)
	return now == vocab.StatusActive, err
}

// FreeID is the id under which an older version of a memory goes: m1~1, m1~2 and so
// on. It is found in a few steps however many versions there are.
func FreeID(g access.Reader, id value.Value) (value.Value, error) {
	free := func(n int) (bool, error) {
		taken, err := g.NodesByID(versionID(id, n), nil)
		return len(taken) == 0, err
	}
	taken, n := 0, 1
	for {
		ok, err := free(n)
		if err != nil {
			return value.Null, err
		}
		if ok {
			break
		}
		taken, n = n, 2*n
	}
	for n-taken > 1 {
		mid := taken + (n-taken)/2
		ok, err := free(mid)
		if err != nil {
			return value.Null, err
		}
		if ok {
			n = mid
		} else {
			taken = mid
		}
	}
	return versionID(id, n), nil
}

// Removed is an edge SUPERSEDES that a statement deleted, with what Reopen needs of it.
type Removed struct {
	Older, Newer value.NodeID
	// Ends are the moments one of which the edge gave to the older memory as its end.
	Ends [2]value.Value
	Was  value.Value // the end it had before
	Gone bool        // the newer memory was deleted
}

// Reopen brings back, at the end of a statement, the memories that nothing supersedes
// any more because what did was deleted. Where a version in the middle was deleted,
// the next one takes over.
func Reopen(g Graph, removed []Removed) error {
	t, ok := g.RelType(vocab.Supersedes)
	if !ok {
		return nil
	}
	slices.SortStableFunc(removed, func(a, b Removed) int {
		return cmp.Or(cmp.Compare(a.Older, b.Older), cmp.Compare(a.Newer, b.Newer))
	})
	above := map[value.NodeID][]*Removed{}
	for i := range removed {
		above[removed[i].Older] = append(above[removed[i].Older], &removed[i])
	}
	done := map[value.NodeID]bool{}
	for i := range removed {
		r := removed[i]
		if done[r.Older] || !g.NodeExists(r.Older) || g.Degree(r.Older, access.In, []value.TypeID{t}) > 0 {
			continue
		}
		done[r.Older] = true
		next, err := heirs(g, r.Older, above)
		if err != nil {
			return err
		}
		if err := reopen(g, r); err != nil {
			return err
		}
		for _, n := range next {
			if err := inherit(g, r.Older, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// heirs are the memories that superseded those that were deleted above one, in order.
func heirs(g Graph, old value.NodeID, above map[value.NodeID][]*Removed) (out []value.NodeID, err error) {
	seen := map[value.NodeID]bool{old: true}
	for next := []value.NodeID{old}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if err := g.Step(len(above[id]) + 1); err != nil {
			return nil, err
		}
		for _, r := range above[id] {
			switch {
			case seen[r.Newer]:
				continue
			case r.Gone:
				next = append(next, r.Newer)
			case id != old:
				out = append(out, r.Newer)
			}
			seen[r.Newer] = true
		}
	}
	slices.Sort(out)
	return out, nil
}

// inherit lets a memory supersede another one in place of what was between them.
func inherit(g Graph, old, heir value.NodeID) error {
	was, err := closeValidity(g, old, heir)
	if err != nil {
		return err
	}
	return g.Link(heir, old, vocab.Supersedes, value.Prop{Key: vocab.KeyCreatedAt, Value: value.OfDateTime(g.Now())},
		value.Prop{Key: KeyWasValidTo, Value: was})
}

func reopen(g Graph, r Removed) error {
	now, err := status(g, r.Older)
	if err != nil {
		return err
	}
	if now == vocab.StatusSuperseded {
		if err := set(g, r.Older, value.Prop{Key: vocab.KeyStatus, Value: value.String(vocab.StatusActive)}); err != nil {
			return err
		}
	}
	until, err := prop(g, r.Older, vocab.KeyValidTo)
	if err != nil || until.IsNull() {
		return err
	}
	for _, end := range r.Ends {
		if at, ok := moment(end); ok && same(until, at) {
			return set(g, r.Older, value.Prop{Key: vocab.KeyValidTo, Value: r.Was})
		}
	}
	return nil
}

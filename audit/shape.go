package audit

import (
	"cmp"

	"engram/graph/value"
	"engram/graph/vocab"
)

// bits is a set of slots.
type bits []uint64

func newBits(n uint32) bits             { return make(bits, (uint64(n)+63)/64) }
func (b bits) set(i uint32)             { b[i>>6] |= 1 << (i & 63) }
func (b bits) clear(i uint32)           { b[i>>6] &^= 1 << (i & 63) }
func (b bits) has(i uint32) bool        { return b[i>>6]>>(i&63)&1 != 0 }
func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// noName stands for nodes without a label or a tier in distributions.
const noName = "(none)"

// partsOf distributes nodes by label and by tier, in order of name.
func (a *audit) partsOf(f *Finding, slots []uint32) {
	labels, tiers := map[string]int64{}, map[string]int64{}
	tier := a.tierOf()
	var buf []value.LabelID
	for _, s := range slots {
		buf = a.shape.Labels(a.shape.NodeID(s), buf[:0])
		for _, l := range buf {
			labels[a.tx.LabelName(l)]++
		}
		if len(buf) == 0 {
			labels[noName]++
		}
		tiers[tier(s)]++
	}
	for _, name := range unionKeys(labels, nil) {
		f.part("label", name, labels[name], "")
	}
	for _, name := range unionKeys(tiers, nil) {
		f.part("tier", name, tiers[name], "")
	}
}

// tierOf returns a function that tells the tier of a node's slot. What is no tier
// counts as none.
func (a *audit) tierOf() func(slot uint32) string {
	k, _ := a.tx.Key(vocab.KeyTier)
	return func(slot uint32) string {
		if v, err := a.tx.NodeProp(a.shape.NodeID(slot), k); err == nil {
			switch s := v.AsString(); s {
			case vocab.TierWorking, vocab.TierEpisodic, vocab.TierCanonical:
				return s
			}
		}
		return noName
	}
}

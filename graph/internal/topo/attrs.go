package topo

import (
	"math"

	"engram/graph/value"
)

// EdgeAttr names a property of edges that the topology keeps.
type EdgeAttr uint8

// The edge attributes: the properties weight, layer and inhibitory as the user
// asserted them. Learned weights are apart, see Learned.
const (
	Weight     EdgeAttr = iota // exact when a float32 holds it, or one and six decimals
	Layer                      // exact when an integer from 0 to 255
	Inhibitory                 // exact when a boolean
)

// EdgeAttr returns an attribute of an edge.
func (v *Version) EdgeAttr(id value.EdgeID, a EdgeAttr) (value.Value, State) {
	s, ok := v.EdgeSlot(id)
	if !ok {
		return value.Null, Absent
	}
	return v.EdgeAttrSlot(s, a)
}

// EdgeAttrSlot is EdgeAttr for the slot of an edge.
func (v *Version) EdgeAttrSlot(s Slot, a EdgeAttr) (value.Value, State) {
	p, i := v.edges.at(s>>edgeBits), s&edgeMask
	state := p.flag(i) >> (2 * a) & 3
	switch {
	case state == attrAbsent:
		return value.Null, Absent
	case state == attrRecord:
		if a == Weight && p.flags[i]&flagDecimal != 0 {
			return value.Float(sixDecimals(p.weight[i])), Exact
		}
		return value.Null, SeeRecord
	case a == Layer:
		return value.Int(int64(p.layer[i])), Exact
	case a == Inhibitory:
		return value.Bool(state == attrTwo), Exact
	case state == attrTwo:
		return value.Int(int64(p.weight[i])), Exact
	}
	return value.Float(float64(p.weight[i])), Exact
}

// EdgeWeight is what an edge's weight is made of. It is for spreading, not for
// printing.
type EdgeWeight struct {
	Weight  float32 // as asserted, rounded to a float32
	Has     bool    // a number is asserted
	Learned float32 // 0: nothing was learned
}

// Weights appends the weights of the edges of some hops. It does nothing else
// between them, so that a processor waits for several at once.
func (v *Version) Weights(hops []Hop, buf []EdgeWeight) []EdgeWeight {
	for _, h := range hops {
		p, i := v.edges.at(h.Edge>>edgeBits), h.Edge&edgeMask
		var w EdgeWeight
		if p.flags != nil {
			if p.weight != nil && p.flags[i]&3 != attrAbsent {
				w.Weight = p.weight[i]
				w.Has = w.Weight == w.Weight // NaN marks a weight that is no number
			}
			if p.flags[i]&flagLearned != 0 {
				w.Learned = p.learned[i]
			}
		}
		buf = append(buf, w)
	}
	return buf
}

// WeightSlot returns the asserted weight of an edge, rounded to a float32, and
// whether a number is asserted at all. It is for spreading, not for printing.
func (v *Version) WeightSlot(s Slot) (w float32, ok bool) {
	p, i := v.edges.at(s>>edgeBits), s&edgeMask
	if p.flags == nil || p.weight == nil || p.flags[i]&3 == attrAbsent {
		return 0, false
	}
	w = p.weight[i]
	return w, w == w // NaN marks a weight that is no number
}

// LearnedSlot returns the learned weight of an edge, if there is one.
func (v *Version) LearnedSlot(s Slot) (w float32, ok bool) {
	p, i := v.edges.at(s>>edgeBits), s&edgeMask
	if p.flags == nil || p.flags[i]&flagLearned == 0 {
		return 0, false
	}
	return p.learned[i], true
}

// InhibitorySlot reports whether the edge is asserted to inhibit.
func (v *Version) InhibitorySlot(s Slot) bool {
	return v.edges.at(s>>edgeBits).flag(s&edgeMask)>>flagInhibitory&3 == attrTwo
}

// set stores an attribute, exactly or as a pointer to the record.
func (p *edgePage) set(i uint32, a EdgeAttr, val value.Value, tok *token) {
	state := uint8(attrAbsent)
	if !val.IsNull() {
		state = attrRecord
	}
	switch a {
	case Weight:
		decimal := false
		if state != attrAbsent {
			var w float32
			w, state = encodeWeight(val)
			column(p, &p.weight, colWeight, tok)[i] = w
			decimal = state == attrRecord && val.Kind() == value.KindFloat &&
				floatBits(sixDecimals(w)) == floatBits(val.AsFloat())
		}
		p.setFlag(i, flagDecimal, decimal, tok)
	case Layer:
		if n := val.AsInt(); val.Kind() == value.KindInt && n >= 0 && n <= 255 {
			state = attrOne
			column(p, &p.layer, colLayer, tok)[i] = uint8(n)
		}
	case Inhibitory:
		if val.Kind() == value.KindBool {
			state = attrOne
			if val.AsBool() {
				state = attrTwo
			}
		}
	}
	p.setAttr(i, uint8(2*a), state, tok)
}

// sixDecimals is the decimal number of six places that is nearest to w: for weights
// as people write them, such as 0.15, that is the very float64 that was rounded to
// w. Both numbers divided are exact, so the quotient is the nearest float64, as a
// parser's is.
func sixDecimals(w float32) float64 { return math.RoundToEven(float64(w)*1e6) / 1e6 }

// encodeWeight rounds a weight and says whether that was exact; a value that is
// no number becomes NaN.
func encodeWeight(val value.Value) (float32, uint8) {
	switch val.Kind() {
	case value.KindInt:
		w := float32(val.AsInt())
		if n := val.AsInt(); n > -1<<24 && n < 1<<24 {
			return w, attrTwo
		}
		return w, attrRecord
	case value.KindFloat:
		w := float32(val.AsFloat())
		if floatBits(float64(w)) == floatBits(val.AsFloat()) {
			return w, attrOne
		}
		return w, attrRecord
	}
	return float32(floatOf(0x7ff8000000000001)), attrRecord
}

func (p *edgePage) setLearned(i uint32, w float32, ok bool, tok *token) {
	p.setFlag(i, flagLearned, ok, tok)
	if ok {
		column(p, &p.learned, colLearned, tok)[i] = w
	}
}

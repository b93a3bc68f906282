package recall

import (
	"math"
	"time"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// weigher reads what a memory is worth by itself: importance, confidence, use and
// age. Most of it lies in memory.
type weigher struct {
	g   access.Reader
	f   activation.Factors
	now Moment
	importance, confidence, uses, used, created, tier,
	decay value.KeyID
	learned access.LearningReader // nil: nothing was learned of use
}

// newWeigher returns nil when nothing in the graph says what a memory is worth.
func newWeigher(g access.Reader, t *Tuning, now Moment) *weigher {
	w := &weigher{g: g, f: t.Promotion.Factors, now: now}
	if l, ok := g.(access.LearningReader); ok && t.Learned != 0 && l.AnyActivity() {
		w.learned = l
	}
	found := w.learned != nil
	for name, id := range map[string]*value.KeyID{
		vocab.KeyImportance: &w.importance, vocab.KeyConfidence: &w.confidence, vocab.KeyUses: &w.uses,
		vocab.KeyLastUsed: &w.used, vocab.KeyCreatedAt: &w.created, vocab.KeyTier: &w.tier, vocab.KeyDecay: &w.decay,
	} {
		var ok bool
		*id, ok = g.Key(name)
		found = found || ok && name != vocab.KeyTier && name != vocab.KeyDecay
	}
	if !found {
		return nil
	}
	return w
}

// most is the highest that of can return.
func (w *weigher) most() float64 {
	m := activation.Memory{}
	if w.importance != 0 {
		m.Importance, m.HasImportance = 1, true
	}
	if w.uses != 0 || w.learned != nil {
		m.Uses = 1 << 62
	}
	return w.f.Weigh(w.f.SalienceOf(m), 1)
}

// of returns salience and recency of a node.
func (w *weigher) of(id value.NodeID) (salience, recency float64, err error) {
	var m activation.Memory
	read := func(key value.KeyID) value.Value {
		if key == 0 || err != nil {
			return value.Null
		}
		var v value.Value
		v, err = w.g.NodeProp(id, key)
		return v
	}
	// A NaN counts as missing: it would make every score one.
	if v := read(w.importance); v.IsNumber() && !math.IsNaN(v.AsFloat()) {
		m.Importance, m.HasImportance = v.AsFloat(), true
	}
	if v := read(w.confidence); v.IsNumber() && !math.IsNaN(v.AsFloat()) {
		m.Confidence, m.HasConfidence = v.AsFloat(), true
	}
	m.Uses = max(read(w.uses).AsInt(), 0)
	if at, ok := MomentOf(read(w.created)); ok {
		m.Age, m.HasTime = w.age(at), true
		m.Idle = m.Age
	}
	if at, ok := MomentOf(read(w.used)); ok {
		m.Idle, m.HasTime = w.age(at), true
	}
	if m.HasTime {
		m.Tier, m.Decay = read(w.tier).AsString(), read(w.decay).AsFloat()
	}
	if w.learned != nil {
		w.use(id, &m)
	}
	return w.f.SalienceOf(m), w.f.RecencyOf(m), err
}

// age is the time since a moment in whole hours: so fine that it weighs, and so
// coarse that the same question a moment later has the same answer to the bit.
func (w *weigher) age(at Moment) time.Duration { return w.now.since(at).Truncate(time.Hour) }

// use adds what was learned of a node's use.
func (w *weigher) use(id value.NodeID, m *activation.Memory) {
	a := w.learned.Activity(id)
	m.Uses += a.Uses
	if a.LastUsed == 0 {
		return
	}
	idle := w.age(Moment{Seconds: a.LastUsed / 1000, Nanos: int32(a.LastUsed % 1000 * 1e6)})
	if !m.HasTime || idle < m.Idle {
		m.Idle, m.HasTime = idle, true
	}
}

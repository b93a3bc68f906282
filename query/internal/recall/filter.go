package recall

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Filter says which memories may be recalled, apart from WHERE. The zero value
// leaves out what is superseded, forgotten, not valid, telemetry or a verdict.
type Filter struct {
	// Superseded, Forgotten, Telemetry and Verdicts are not left out.
	Superseded, Forgotten, Telemetry, Verdicts bool
	// AsOf is the moment at which memories have to be valid; nil: the reference
	// time. A moment given counts before what was superseded since.
	AsOf *Moment
	// Since and Until, both or none, bound the time of memories: from Since on,
	// before Until. It is the time for which a memory says that it is valid, else
	// the moment of which it is (its date), else the one at which it was stored.
	Since, Until *Moment
	// Layers are the names and kinds of the layers; nil: all.
	Layers []value.Value
}

// Exclusion is why a filter leaves a memory out.
type Exclusion string

// The exclusions.
const (
	Kept           Exclusion = ""
	IsSuperseded   Exclusion = "superseded"
	IsForgotten    Exclusion = "forgotten"
	NotYetValid    Exclusion = "not valid yet"
	NoLongerValid  Exclusion = "not valid any more"
	OutsideOfTime  Exclusion = "outside of the time asked for"
	IsTelemetry    Exclusion = "telemetry"
	IsVerdict      Exclusion = "a verdict"
	InAnotherLayer Exclusion = "in another layer"
	DroppedByWhere Exclusion = "dropped by WHERE"
	WithoutText    Exclusion = "without text"
)

// screen is a Filter with its names resolved. What the graph has no name for costs
// nothing.
type screen struct {
	g     access.Reader
	f     Filter
	at    Moment // of validity
	vocab *vocab.Vocabulary
	status, from, to, created, date,
	layer value.KeyID
	telemetry, verdict value.LabelID
	layers             map[string]bool // by name; nil: all
	supersedes         []value.TypeID
	adjacent           []access.Adjacent
}

func newScreen(g access.Reader, f Filter, now Moment) *screen {
	s := &screen{g: g, f: f, at: now, vocab: &vocab.Vocabulary{}}
	if f.AsOf != nil {
		s.at = *f.AsOf
	}
	if v, ok := g.(access.VocabularyReader); ok {
		s.vocab = v.Vocabulary()
	}
	for name, id := range map[string]*value.KeyID{
		vocab.KeyStatus: &s.status, vocab.KeyValidFrom: &s.from, vocab.KeyValidTo: &s.to,
		vocab.KeyCreatedAt: &s.created, keyDate: &s.date, vocab.KeyLayer: &s.layer,
	} {
		*id, _ = g.Key(name)
	}
	if !f.Telemetry {
		s.telemetry, _ = g.Label(vocab.LabelTelemetry)
	}
	if !f.Verdicts {
		s.verdict, _ = g.Label(vocab.LabelVerdict)
	}
	if f.Layers != nil {
		s.layers = map[string]bool{}
		for _, l := range f.Layers {
			s.layers[s.vocab.LayerOf(l).Name] = true
		}
	}
	if t, ok := g.RelType(vocab.Supersedes); ok && g.EdgeCount(t) > 0 {
		s.supersedes = []value.TypeID{t}
	}
	return s
}

// keyDate is what importers call the moment of which a memory is.
const keyDate = "date"

// open reports whether the screen lets everything through.
func (s *screen) open() bool {
	return s.status == 0 && s.from == 0 && s.to == 0 && s.telemetry == 0 && s.verdict == 0 && s.layers == nil && s.f.Since == nil
}

// why tells why a node is left out; Kept when it is not.
func (s *screen) why(id value.NodeID) (Exclusion, error) {
	if x, err := s.state(id); x != Kept || err != nil {
		return x, err
	}
	if s.f.Since != nil {
		if in, err := s.meets(id, span{*s.f.Since, *s.f.Until}); !in || err != nil {
			return OutsideOfTime, err
		}
	}
	if s.layers != nil {
		l, err := s.layerOf(id)
		if err != nil || !s.layers[l.Name] {
			return InAnotherLayer, err
		}
	}
	return Kept, nil
}

// state is why for what is true of a node whatever was asked for. Such a node does
// not carry activation either.
func (s *screen) state(id value.NodeID) (Exclusion, error) {
	if s.telemetry != 0 && s.g.HasLabel(id, s.telemetry) {
		return IsTelemetry, nil
	}
	if s.verdict != 0 && s.g.HasLabel(id, s.verdict) {
		return IsVerdict, nil
	}
	status, err := s.prop(id, s.status)
	if err != nil {
		return Kept, err
	}
	superseded := status.AsString() == vocab.StatusSuperseded
	switch {
	case status.AsString() == vocab.StatusForgotten && !s.f.Forgotten:
		return IsForgotten, nil
	case superseded && s.f.AsOf == nil:
		if s.f.Superseded {
			return Kept, nil // its validity is closed, and that was asked for
		}
		to, ends, err := s.moment(id, s.to)
		if err != nil || !ends || !s.at.Before(to) {
			return IsSuperseded, err
		}
		// What supersedes it holds from a later moment on.
	}
	return s.valid(id)
}

// valid compares the time for which a node says that it holds with the moment.
func (s *screen) valid(id value.NodeID) (Exclusion, error) {
	from, hasFrom, err := s.moment(id, s.from)
	if err != nil {
		return Kept, err
	}
	if hasFrom && s.at.Before(from) {
		return NotYetValid, nil
	}
	to, hasTo, err := s.moment(id, s.to)
	if err != nil {
		return Kept, err
	}
	if hasTo && !s.at.Before(to) {
		return NoLongerValid, nil
	}
	return Kept, nil
}

// meets reports whether a memory's time meets another one.
func (s *screen) meets(id value.NodeID, t span) (bool, error) {
	from, hasFrom, err := s.moment(id, s.from)
	if err != nil {
		return false, err
	}
	to, hasTo, err := s.moment(id, s.to)
	if err != nil {
		return false, err
	}
	if hasFrom || hasTo {
		return (!hasFrom || from.Before(t.until)) && (!hasTo || t.since.Before(to)), nil
	}
	for _, key := range []value.KeyID{s.date, s.created} {
		if at, ok, err := s.moment(id, key); ok || err != nil {
			return ok && !at.Before(t.since) && at.Before(t.until), err
		}
	}
	return false, nil
}

func (s *screen) prop(id value.NodeID, key value.KeyID) (value.Value, error) {
	if key == 0 {
		return value.Null, nil
	}
	return s.g.NodeProp(id, key)
}

func (s *screen) moment(id value.NodeID, key value.KeyID) (Moment, bool, error) {
	v, err := s.prop(id, key)
	m, ok := MomentOf(v)
	return m, ok, err
}

func (s *screen) layerOf(id value.NodeID) (vocab.Layer, error) {
	v, err := s.prop(id, s.layer)
	return s.vocab.LayerOf(v), err
}

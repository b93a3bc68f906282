package recall

import (
	"context"
	"slices"
	"sync"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// source lets activation read the graph. Activation's ids are node ids.
type source struct {
	g       access.Reader
	ids     *ids
	types   []value.TypeID // empty: all
	none    bool           // VIA names no type that exists
	factors map[value.TypeID][2]float64
	other   [2]float64
	decay   map[value.TypeID]float64 // of transitive types
	decays  float64                  // of others
	weight  value.KeyID
	learned float64                  // how much what was learned counts
	weights map[value.TypeID]float64 // of edges without one, where it is not 1

	byType []typeFactor // by relation type, as far as they were asked for
	sized  []sized      // how many edges the nodes asked for last have

	hub   int64 // more edges than that are not followed
	given map[value.NodeID]bool

	screen     *screen // nil: everything carries activation
	inhibitory value.KeyID

	*buffers
}

// buffers are what reading edges fills, kept for the next source.
type buffers struct {
	adjacent []value.Weighted
	edges    []activation.Edge
	bounds   []bounded
}

var spareBuffers = sync.Pool{New: func() any { return &buffers{} }}

// release gives the buffers back; the source is not to be used afterwards.
func (s *source) release() {
	spareBuffers.Put(s.buffers)
	s.buffers = nil
}

func newSource(g access.Reader, ids *ids, t *Tuning, via, against []string) (*source, error) {
	s := &source{g: g, ids: ids, learned: t.Learned, other: t.Other, hub: int64(t.Hub), factors: map[value.TypeID][2]float64{}, buffers: spareBuffers.Get().(*buffers)}
	for _, name := range via {
		if t, ok := g.RelType(name); ok {
			s.types = append(s.types, t)
		}
	}
	s.none = len(via) > 0 && len(s.types) == 0
	for name, f := range t.Factors {
		if t, ok := g.RelType(name); ok {
			s.factors[t] = f
		}
	}
	s.decays, s.decay = t.Decay, map[value.TypeID]float64{}
	for _, r := range vocab.BuiltIn() {
		if id, ok := g.RelType(r.Name); ok && r.Transitive {
			s.decay[id] = t.DecayTransitive
		}
	}
	s.vocabulary(t)
	for _, name := range against {
		if t, ok := g.RelType(name); ok {
			s.factors[t] = [2]float64{}
			s.types = slices.DeleteFunc(s.types, func(x value.TypeID) bool { return x == t })
			s.none = s.none || len(via) > 0 && len(s.types) == 0
		}
	}
	s.weight, _ = g.Key("weight")
	s.inhibitory, _ = g.Key(vocab.KeyInhibitory)
	return s, nil
}

// vocabulary takes over what was declared of relation types: it goes before what
// recall assumes of the built-in ones.
func (s *source) vocabulary(tuning *Tuning) {
	g, ok := s.g.(access.VocabularyReader)
	if !ok {
		return
	}
	for _, r := range g.Vocabulary().All() {
		if _, declared := g.Vocabulary().Declared(r.Name); !declared {
			continue
		}
		t, ok := s.g.RelType(r.Name)
		if !ok {
			continue
		}
		s.factors[t] = [2]float64{r.Forward, r.Backward}
		delete(s.decay, t)
		if r.Transitive {
			s.decay[t] = tuning.DecayTransitive
		}
		if r.Inhibitory {
			s.factors[t] = [2]float64{} // held back, never spread
		}
		if r.Weight != 1 {
			if s.weights == nil {
				s.weights = map[value.TypeID]float64{}
			}
			s.weights[t] = r.Weight
		}
	}
}

// typeFactor is what activation is multiplied by over a relation type, forwards and
// backwards, and once more from the second step on.
type typeFactor struct {
	known bool
	along [2]float64
	decay float64
}

func (s *source) factor(step int, relType uint32, out bool) float64 {
	if int(relType) >= len(s.byType) {
		s.byType = append(s.byType, make([]typeFactor, int(relType)+1-len(s.byType))...)
	}
	f := &s.byType[relType]
	if !f.known {
		*f = s.typeFactor(value.TypeID(relType))
	}
	along := f.along[1]
	if out {
		along = f.along[0]
	}
	if step == 1 {
		return along
	}
	return along * f.decay
}

func (s *source) typeFactor(t value.TypeID) typeFactor {
	f := typeFactor{known: true, along: s.other, decay: s.decays}
	if along, ok := s.factors[t]; ok {
		f.along = along
	}
	if decay, ok := s.decay[t]; ok {
		f.decay = decay
	}
	return f
}

// Edges implements activation.Source.
func (s *source) Edges(ctx context.Context, nodes []activation.ID, visit func(int, []activation.Edge) error) error {
	for i, id := range nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.edges = s.edges[:0]
		if s.follows(i, id) {
			if err := s.read(nodeOf(id)); err != nil {
				return err
			}
		}
		if err := visit(i, s.edges); err != nil {
			return err
		}
	}
	return nil
}

// give notes the nodes that were given as seeds, whose edges are all followed, hub
// or not, and returns how many edges one of them has at most.
func (s *source) give(seeds []Seed) int {
	most := int64(0)
	s.given = map[value.NodeID]bool{}
	for _, seed := range seeds {
		s.given[seed.Node] = true
		most = max(most, s.degree(seed.Node))
	}
	return int(most)
}

// follows reports whether activation goes on from a node. From a hub next to
// nothing would come to each neighbour, and looking for the strongest of its edges
// costs more than all the rest. i is the node's place among those asked for, where
// Size may have met it.
func (s *source) follows(i int, id activation.ID) bool {
	if i < len(s.sized) && s.sized[i].id == id {
		return s.sized[i].followed
	}
	return s.opens(id, s.degree(nodeOf(id)))
}

// degree counts loops twice, which tells nothing else but is quicker.
func (s *source) degree(id value.NodeID) int64 {
	return s.g.Degree(id, access.Out, s.types) + s.g.Degree(id, access.In, s.types)
}

func (s *source) opens(id activation.ID, degree int64) bool {
	return !s.none && (degree <= s.hub || s.given[nodeOf(id)])
}

// sized tells of a node whether activation goes on from it.
type sized struct {
	id       activation.ID
	followed bool
}

// Size implements activation.Sizer.
func (s *source) Size(nodes []activation.ID) int {
	n := int64(0)
	s.sized = s.sized[:0]
	for _, id := range nodes {
		degree := s.degree(nodeOf(id))
		s.sized = append(s.sized, sized{id, s.opens(id, degree)})
		if s.sized[len(s.sized)-1].followed {
			n += degree
		}
	}
	return int(n)
}

func nodeOf(id activation.ID) value.NodeID { return value.NodeID(id) }

func (s *source) read(id value.NodeID) error {
	if err := s.expand(id); err != nil {
		return err
	}
	if s.screen != nil {
		if err := s.screen.carried(id, s); err != nil {
			return err
		}
	}
	for _, a := range s.adjacent {
		if a.Node == id {
			continue // a loop tells nothing new
		}
		weight := float64(a.Weight)
		if !a.Has {
			weight = 1
			if w, ok := s.weights[a.Type]; ok {
				weight = w
			}
		}
		weight += float64(s.learned * float64(a.Learned))
		s.edges = append(s.edges, activation.Edge{Edge: uint64(a.Edge), To: activation.ID(a.Node), Type: uint32(a.Type), Out: a.Out, Weight: weight})
	}
	return nil
}

// expand reads a node's edges and their weights.
func (s *source) expand(id value.NodeID) error {
	var err error
	if quick, ok := s.g.(access.WeightReader); ok {
		s.adjacent, err = quick.ExpandWeighted(id, s.types, s.adjacent[:0])
		return err
	}
	edges, err := s.g.Expand(id, access.Both, s.types, nil)
	s.adjacent = s.adjacent[:0]
	for _, a := range edges {
		w := value.Weighted{Adjacent: a}
		if s.weight != 0 {
			v, err := s.g.EdgeProp(a.Edge, s.weight)
			if err != nil {
				return err
			}
			w.Weight, w.Has = float32(v.AsFloat()), v.IsNumber()
		}
		if l, ok := s.g.(access.LearningReader); ok {
			w.Learned = float32(l.LearnedWeight(a.Edge))
		}
		s.adjacent = append(s.adjacent, w)
	}
	return err
}

// Less implements activation.Source.
func (s *source) Less(a, b activation.ID) bool {
	return s.ids.less(nodeOf(a), nodeOf(b))
}

// ids orders nodes by external id, reading each id once. An error is kept, since
// comparing can't return one.
type ids struct {
	g     access.Reader
	known map[value.NodeID]string
	err   error
}

func (x *ids) less(a, b value.NodeID) bool {
	if a == b {
		return false
	}
	ea, eb := x.of(a), x.of(b)
	if ea != eb {
		return ea < eb
	}
	return a < b
}

func (x *ids) compare(a, b value.NodeID) int {
	switch {
	case a == b:
		return 0
	case x.less(a, b):
		return -1
	}
	return 1
}

func (x *ids) of(id value.NodeID) string {
	if s, ok := x.known[id]; ok {
		return s
	}
	s, err := x.g.ElementID(id)
	if err != nil && x.err == nil {
		x.err = err
	}
	if x.known == nil {
		x.known = map[value.NodeID]string{}
	}
	x.known[id] = s
	return s
}

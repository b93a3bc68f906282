package recall

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
)

// carried leaves of a node's edges those that carry activation. What may not be
// recalled carries none, but what is superseded passes it on to what took its
// place, and an edge that leads to one leads there. An opaque layer keeps it
// within, and an inhibitory edge does not spread.
func (s *screen) carried(id value.NodeID, src *source) error {
	if src.inhibitory != 0 {
		if err := src.dropInhibitory(); err != nil {
			return err
		}
	}
	if !s.vocab.AllTransparent() {
		if err := s.dropOtherLayers(id, src); err != nil {
			return err
		}
	}
	if s.status == 0 && s.from == 0 && s.to == 0 && s.telemetry == 0 && s.verdict == 0 {
		return nil
	}
	x, err := s.state(id)
	if err != nil {
		return err
	}
	if x != Kept {
		next, err := s.passedOn(id, x, src.ids.less)
		src.adjacent = src.adjacent[:0]
		if next.Node != 0 {
			src.adjacent = append(src.adjacent, value.Weighted{Adjacent: next, Weight: 1, Has: true})
		}
		return err
	}
	kept := src.adjacent[:0]
	for _, a := range src.adjacent {
		x, err := s.state(a.Node)
		if err != nil {
			return err
		}
		if x != Kept {
			next, err := s.passedOn(a.Node, x, src.ids.less)
			if err != nil {
				return err
			}
			if a.Node = next.Node; a.Node == 0 || a.Node == id {
				continue
			}
		}
		kept = append(kept, a)
	}
	src.adjacent = kept
	return nil
}

// passedOn returns the edge over which a node that is left out passes activation
// on, with the last of those that took its place in order as its end; none when it
// passes nothing on.
func (s *screen) passedOn(id value.NodeID, x Exclusion, less func(a, b value.NodeID) bool) (access.Adjacent, error) {
	if x != IsSuperseded && x != NoLongerValid {
		return access.Adjacent{}, nil
	}
	chain, err := s.succession(id, less)
	if err != nil || len(chain) == 0 {
		return access.Adjacent{}, err
	}
	first := chain[0]
	first.Node = chain[len(chain)-1].Node
	return first, nil
}

// maxSuccessions bounds how far succession is followed.
const maxSuccessions = 64

// succession returns the edges that lead from a node by way of what superseded it
// to the first one that may be recalled; none when there is no such. Of several
// that superseded it the first by external id counts.
func (s *screen) succession(id value.NodeID, less func(a, b value.NodeID) bool) ([]access.Adjacent, error) {
	var chain []access.Adjacent
	for len(chain) < maxSuccessions && s.supersedes != nil {
		var err error
		if s.adjacent, err = s.g.Expand(id, access.In, s.supersedes, s.adjacent[:0]); err != nil || len(s.adjacent) == 0 {
			return nil, err
		}
		next := s.adjacent[0]
		for _, a := range s.adjacent[1:] {
			if less(a.Node, next.Node) {
				next = a
			}
		}
		chain = append(chain, next)
		if x, err := s.state(next.Node); err != nil || x == Kept {
			return chain, err
		}
		id = next.Node
	}
	return nil, nil
}

// dropOtherLayers closes the edges out of an opaque layer.
func (s *screen) dropOtherLayers(id value.NodeID, src *source) error {
	own, err := s.layerOf(id)
	if err != nil || own.Transparent {
		return err
	}
	src.adjacent = slices.DeleteFunc(src.adjacent, func(a value.Weighted) bool {
		l, bad := s.layerOf(a.Node)
		if bad != nil {
			err = bad
		}
		return l.Name != own.Name
	})
	return err
}

// dropInhibitory closes the edges that say of themselves that they hold back.
func (s *source) dropInhibitory() (err error) {
	s.adjacent = slices.DeleteFunc(s.adjacent, func(a value.Weighted) bool {
		v, bad := s.g.EdgeProp(a.Edge, s.inhibitory)
		if bad != nil {
			err = bad
		}
		return v.AsBool()
	})
	return err
}

package physical

import (
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// maker creates what one pattern of CREATE or MERGE says.
type maker struct {
	pattern *bound.Pattern
	nodes   []nodeMaker
	rels    []relMaker
	merge   bool
	labels  []value.LabelID
	props   []access.Prop
	layer   value.Value // that props name; null: none
}

type nodeMaker struct {
	slot   int
	bound  bool
	name   string
	labels []string
	more   eval.Fn // further labels; or nil
	props  propMaker
}

type relMaker struct {
	slot  int
	typ   string
	from  eval.Fn // yields the type in place of typ; or nil
	at    syntax.Span
	dir   syntax.RelDir
	props propMaker
}

// propMaker computes the properties of a new entity: the entries of keys and
// values, or those of the map that from yields.
type propMaker struct {
	keys   []string
	values []eval.Fn
	spans  []syntax.Span
	from   eval.Fn
}

// make creates the pattern for one row of cols and fills its columns there.
func (m *maker) make(f *frame, cols [][]value.Value, row int) error {
	f.env.Cols = cols
	for i := range m.nodes {
		n := &m.nodes[i]
		if n.bound {
			continue
		}
		if err := m.makeNode(f, n, cols, row); err != nil {
			return err
		}
	}
	for i := range m.rels {
		if err := m.makeRel(f, i, cols, row); err != nil {
			return err
		}
	}
	if m.pattern.Path >= 0 {
		cols[m.pattern.Path][row] = buildPath(f, cols, row, m.pattern)
	}
	return nil
}

func (m *maker) makeNode(f *frame, n *nodeMaker, cols [][]value.Value, row int) error {
	if err := m.evalProps(f, &n.props, row); err != nil {
		return err
	}
	m.labels = m.labels[:0]
	names, err := givenNames(f, n.more, row, n.labels)
	if err != nil {
		return at(err, m.pattern.Span)
	}
	for _, name := range names {
		l, err := f.w.w.InternLabel(name)
		if err != nil {
			return constraint(err)
		}
		m.labels = appendNew(m.labels, l)
	}
	if !m.layer.IsNull() {
		if err := m.checkLayer(f, names); err != nil {
			return err
		}
	}
	id, err := f.w.createNode(m.labels, m.props)
	if err != nil {
		return m.refused(err)
	}
	cols[n.slot][row] = value.NodeRef(id)
	return nil
}

// refused says where what the graph refuses was to be made, and what does not fail
// when it is there already.
func (m *maker) refused(err error) error {
	if e := fault.As(err); e != nil && e.Type == fault.ConstraintValidationFailed && e.Hint == "" && !m.merge &&
		strings.HasSuffix(e.Message, "exists already") {
		err = e.WithHint("MERGE finds what is there, or creates it.")
	}
	return at(err, m.pattern.Span)
}

// checkLayer refuses a memory in a layer that is none. On other nodes the property
// may mean anything.
func (m *maker) checkLayer(f *frame, labels []string) error {
	for _, name := range labels {
		if name == vocab.LabelMemory {
			return at(checkLayer(f.r, m.layer), m.pattern.Span)
		}
	}
	return nil
}

func appendNew[T comparable](list []T, v T) []T {
	for _, x := range list {
		if x == v {
			return list
		}
	}
	return append(list, v)
}

func (m *maker) makeRel(f *frame, i int, cols [][]value.Value, row int) error {
	r := &m.rels[i]
	left, right := cols[m.nodes[i].slot][row], cols[m.nodes[i+1].slot][row]
	for j, v := range []value.Value{left, right} {
		if v.Kind() != value.KindNode {
			return missingEnd(m.nodes[i+j].name, v, m.pattern.Span)
		}
	}
	if err := m.evalProps(f, &r.props, row); err != nil {
		return err
	}
	typ, err := r.typeName(f, row)
	if err != nil {
		return at(err, r.at)
	}
	t, err := f.w.w.InternRelType(typ)
	if err != nil {
		return constraint(err)
	}
	src, dst := left.NodeID(), right.NodeID()
	if r.dir == syntax.RelIn {
		src, dst = dst, src
	}
	if typ == vocab.Supersedes {
		if m.props, err = f.replaces(src, dst, m.props); err != nil {
			return at(err, m.pattern.Span)
		}
	}
	id, err := f.w.createEdge(src, dst, t, m.props)
	if err != nil {
		return m.refused(err)
	}
	cols[r.slot][row] = value.EdgeRef(id)
	return nil
}

// typeName is the type of the edge for a row.
func (r *relMaker) typeName(f *frame, row int) (string, error) {
	if r.from == nil {
		return r.typ, nil
	}
	names, err := givenNames(f, r.from, row, nil)
	if err == nil && len(names) != 1 {
		err = typeError("a relationship has exactly one type, not %d", len(names))
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// givenNames adds the names that an expression yields, if there is one, to others.
func givenNames(f *frame, more eval.Fn, row int, names []string) ([]string, error) {
	if more == nil {
		return names, nil
	}
	v, err := more(&f.env, row)
	if err != nil {
		return nil, err
	}
	computed, err := fn.Names(v)
	return append(slices.Clone(names), computed...), err
}

func missingEnd(name string, v value.Value, at syntax.Span) error {
	if name == "" {
		name = "a node of the pattern"
	}
	return fault.New(fault.TypeError, fault.Runtime, "InvalidArgumentType", at,
		"a relationship needs a node at each end, but %s is %s", name, v.Kind().Named())
}

// evalProps fills m.props.
func (m *maker) evalProps(f *frame, p *propMaker, row int) error {
	m.props, m.layer = m.props[:0], value.Null
	if p.from != nil {
		v, err := p.from(&f.env, row)
		if err != nil {
			return err
		}
		return m.mapProps(f, v)
	}
	for i, fn := range p.values {
		v, err := fn(&f.env, row)
		if err != nil {
			return err
		}
		if v.IsNull() && m.merge {
			return fault.New(fault.SemanticError, fault.Runtime, "MergeReadOwnWrites", p.spans[i],
				"MERGE cannot use null for the property %s: nothing equals null, so it could never be found again", p.keys[i])
		}
		if err := m.addProp(f, p.keys[i], v); err != nil {
			return at(err, p.spans[i])
		}
	}
	return nil
}

func (m *maker) mapProps(f *frame, v value.Value) error {
	if v.IsNull() {
		return nil
	}
	entries := v.AsMap()
	if entries == nil {
		return typeError("properties are given as a map, but this is %s", v.Kind().Named())
	}
	for _, e := range entries.Entries {
		if err := m.addProp(f, e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) addProp(f *frame, key string, v value.Value) error {
	if v.IsNull() {
		return nil
	}
	if err := storable(key, v); err != nil {
		return err
	}
	k, err := f.w.w.InternKey(key)
	if err != nil {
		return constraint(err)
	}
	if key == vocab.KeyLayer {
		m.layer = v
	}
	m.props = append(m.props, access.Prop{Key: k, Value: v})
	return nil
}

// storable checks that v may be the value of a property.
func storable(key string, v value.Value) error {
	if err := value.CheckStorable(v); err != nil {
		why := strings.ReplaceAll(err.Error(), value.ErrNotStorable.Error()+": ", "")
		return fault.AtRuntime(fault.TypeError, "InvalidPropertyType", "the property %s cannot be stored: %s", key, why).Wrap(err)
	}
	return nil
}

// at gives an error its place, unless it has one.
func at(err error, span syntax.Span) error {
	if e, ok := err.(*fault.Error); ok {
		return e.WithSpan(span)
	}
	return err
}

func typeError(format string, args ...any) error {
	return fault.AtRuntime(fault.TypeError, "InvalidArgumentType", format, args...)
}

package physical

import (
	"crypto/sha256"
	"encoding/base32"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
	"engram/query/internal/syntax"
)

// remember stores a memory for every row, or reinforces the one that says the
// same already.
type remember struct {
	output
	f       *frame
	in      operator
	def     *bound.Remember
	text    eval.Fn
	props   eval.Fn
	weights []eval.Fn
	labels  []value.LabelID
}

func (c *compiler) remember(o *logical.Remember) operator {
	out := &remember{in: c.in(o), def: o.Call, text: c.fn(o.Call.Text), props: c.fn(o.Call.Props)}
	for _, l := range o.Call.Links {
		out.weights = append(out.weights, c.fn(l.Weight))
	}
	return out
}

func (o *remember) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *remember) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	o.begin(o.f.width)
	copy(o.b.Cols, in.Cols)
	nodes := o.col(o.def.Slot, in.N)
	var created []value.Value
	if o.def.Created >= 0 {
		created = o.col(o.def.Created, in.N)
	}
	for row := range in.N {
		o.f.env.Cols = in.Cols
		id, isNew, err := o.store(row)
		if err != nil {
			return nil, at(err, o.def.Span)
		}
		nodes[row] = value.NodeRef(id)
		if created != nil {
			created[row] = value.Bool(isNew)
		}
		if err := o.link(in, id, row); err != nil {
			return nil, at(err, o.def.Span)
		}
	}
	o.b.N = in.N
	return &o.b, nil
}

// store finds or creates the memory of a row.
func (o *remember) store(row int) (id value.NodeID, isNew bool, err error) {
	text, err := o.text(&o.f.env, row)
	if err != nil {
		return 0, false, err
	}
	if text.Kind() != value.KindString || text.AsString() == "" {
		return 0, false, typeError("REMEMBER needs a text that is not empty, but got %s", text)
	}
	var given []value.Prop
	if o.props != nil {
		v, err := o.props(&o.f.env, row)
		if err != nil {
			return 0, false, err
		}
		if v.Kind() != value.KindMap && !v.IsNull() {
			return 0, false, typeError("the properties of REMEMBER are a map, but this is a %s", v.Kind())
		}
		if m := v.AsMap(); m != nil {
			given = m.Entries
		}
	}
	m := o.memory(text.AsString(), given)
	old, taken, err := o.find(&m)
	if err != nil {
		return 0, false, err
	}
	if old != 0 {
		return old, false, o.reinforce(old)
	}
	if !taken || m.ownID {
		m.set("id", m.id)
	}
	id, err = o.create(&m)
	return id, true, err
}

// memory is a memory about to be stored.
type memory struct {
	label        string
	text         string
	conversation value.Value
	id           value.Value
	ownID        bool // the id was given
	props        []value.Prop
}

func (m *memory) set(key string, v value.Value) {
	for i := range m.props {
		if m.props[i].Key == key {
			m.props[i].Value = v
			return
		}
	}
	m.props = append(m.props, value.Prop{Key: key, Value: v})
}

// memory puts the properties of a new memory together: the defaults, then what
// the statement gives.
func (o *remember) memory(text string, given []value.Prop) memory {
	m := memory{label: "Memory", text: text}
	if len(o.def.Labels) > 0 {
		m.label = o.def.Labels[0]
	}
	for _, p := range []value.Prop{
		{Key: "content", Value: value.String(text)},
		{Key: "tier", Value: value.String("Working")},
		{Key: "layer", Value: value.Int(1)},
		{Key: "importance", Value: value.Float(.5)},
		{Key: "confidence", Value: value.Float(1)},
		{Key: "created_at", Value: value.OfDateTime(o.f.env.Statement)},
		{Key: "tags", Value: value.List(nil)},
		{Key: "status", Value: value.String("active")},
		{Key: "origin", Value: value.String("user")},
	} {
		m.set(p.Key, p.Value)
	}
	for _, p := range given {
		m.set(p.Key, p.Value)
		switch p.Key {
		case "conversation":
			m.conversation = p.Value
		case "id":
			m.id, m.ownID = p.Value, !p.Value.IsNull()
		}
	}
	m.set("content", value.String(text))
	if !m.ownID {
		m.id = value.String(contentID(m.label, m.conversation.String(), text))
	}
	return m
}

// contentID derives the id of a memory from what it says, so that the same
// memory is found again by one look-up: the first 130 bits of a SHA-256 in
// Crockford's base 32, as long as a ULID.
func contentID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	text := base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil))
	return "7" + text[:25] // the first character of a ULID is 0 to 7
}

// find looks for a memory that says the same. taken tells that its id belongs
// to a node that says something else by now.
func (o *remember) find(m *memory) (id value.NodeID, taken bool, err error) {
	found, err := o.f.r.NodesByID(m.id, nil)
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	n, err := o.f.r.LoadNode(found[0])
	if err != nil || n == nil {
		return 0, false, err
	}
	same := false
	for _, l := range n.Labels {
		same = same || l == m.label
	}
	var conversation value.Value
	for _, p := range n.Properties {
		switch p.Key {
		case "content":
			same = same && value.Equivalent(p.Value, value.String(m.text))
		case "conversation":
			conversation = p.Value
		}
	}
	if same && value.Equivalent(conversation, m.conversation) {
		return n.ID, true, nil
	}
	return 0, true, nil
}

func (o *remember) create(m *memory) (value.NodeID, error) {
	names := o.def.Labels
	if len(names) == 0 {
		names = []string{m.label}
	}
	o.labels = o.labels[:0]
	for _, name := range names {
		l, err := o.f.w.w.InternLabel(name)
		if err != nil {
			return 0, constraint(err)
		}
		o.labels = appendNew(o.labels, l)
	}
	var props []access.Prop
	for _, p := range m.props {
		if p.Value.IsNull() {
			continue
		}
		if err := storable(p.Key, p.Value); err != nil {
			return 0, err
		}
		k, err := o.f.w.w.InternKey(p.Key)
		if err != nil {
			return 0, constraint(err)
		}
		props = append(props, access.Prop{Key: k, Value: p.Value})
	}
	return o.f.w.createNode(o.labels, props)
}

// reinforce notes that a memory was told again.
func (o *remember) reinforce(id value.NodeID) error {
	node := value.NodeRef(id)
	uses := int64(0)
	if k, ok := o.f.r.Key("uses"); ok {
		v, err := o.f.r.NodeProp(id, k)
		if err != nil {
			return err
		}
		uses = v.AsInt()
	}
	if err := setProp(o.f, node, "uses", value.Int(uses+1)); err != nil {
		return err
	}
	return setProp(o.f, node, "last_used", value.OfDateTime(o.f.env.Statement))
}

// link makes the edges that LINK names, from the memory.
func (o *remember) link(in *batch.Batch, id value.NodeID, row int) error {
	for i, l := range o.def.Links {
		to := in.Cols[l.Node][row]
		if to.IsNull() {
			continue
		}
		if to.Kind() != value.KindNode {
			return missingEnd("", to, syntax.Span{})
		}
		var props []access.Prop
		if o.weights[i] != nil {
			w, err := o.weights[i](&o.f.env, row)
			if err != nil {
				return err
			}
			k, err := o.f.w.w.InternKey("weight")
			if err != nil {
				return constraint(err)
			}
			props = append(props, access.Prop{Key: k, Value: w})
		}
		t, err := o.f.w.w.InternRelType(l.Type)
		if err != nil {
			return constraint(err)
		}
		if _, err := o.f.w.createEdge(id, to.NodeID(), t, props); err != nil {
			return err
		}
	}
	return nil
}

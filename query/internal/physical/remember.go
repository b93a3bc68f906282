package physical

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/lifecycle"
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
		if err := o.link(in, id, row, isNew); err != nil {
			return nil, at(err, o.def.Span)
		}
		if isNew && !o.def.Alone {
			if err := o.f.associate(id); err != nil {
				return nil, at(err, o.def.Span)
			}
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
	if text.Kind() != value.KindString || strings.TrimSpace(text.AsString()) == "" {
		return 0, false, typeError("REMEMBER needs a text that is not empty, but got %s", text)
	}
	var given []value.Prop
	if o.props != nil {
		v, err := o.props(&o.f.env, row)
		if err != nil {
			return 0, false, err
		}
		if v.Kind() != value.KindMap && !v.IsNull() {
			return 0, false, typeError("the properties of REMEMBER are a map, but this is %s", v.Kind().Named())
		}
		if m := v.AsMap(); m != nil {
			given = m.Entries
		}
	}
	if err := lifecycle.CheckProps(given); err != nil {
		return 0, false, err
	}
	for _, p := range given {
		if p.Key == vocab.KeyLayer && !p.Value.IsNull() {
			if err := checkLayer(o.f.r, p.Value); err != nil {
				return 0, false, err
			}
		}
	}
	if err := lifecycle.CheckText(text.AsString()); err != nil {
		return 0, false, err
	}
	m := o.memory(text.AsString(), given)
	return o.place(&m)
}

// place finds the memory that says the same, or creates one: under the id that was
// given, in place of what that said before, or under one derived from its text.
func (o *remember) place(m *memory) (id value.NodeID, isNew bool, err error) {
	g := changes{o.f.r, o.f}
	told := lifecycle.Told{Label: m.label, Text: m.text, Conversation: m.conversation}
	var before value.NodeID
	if m.ownID {
		holder, same, err := told.Holder(g, m.id)
		if err != nil {
			return 0, false, err
		}
		if same {
			return holder, false, lifecycle.ToldAgain(g, holder, m.recalled)
		}
		before = holder
	}
	derived := value.String(contentID(m.label, m.conversation.String(), m.text))
	known, err := told.Known(g, derived)
	if err != nil {
		return 0, false, err
	}
	if known != 0 && before == 0 {
		return known, false, lifecycle.ToldAgain(g, known, m.recalled)
	}
	switch {
	case before != 0:
		err = lifecycle.Displace(g, before, m.id)
	case !m.ownID:
		var taken []value.NodeID
		if taken, err = o.f.r.NodesByID(derived, nil); len(taken) == 0 {
			m.set("id", derived)
		}
	}
	if err != nil {
		return 0, false, err
	}
	if id, err = o.create(m); err != nil {
		return 0, false, err
	}
	o.f.remembered(id)
	if before != 0 {
		err = lifecycle.Replace(g, before, id)
	}
	return id, true, err
}

// memory is a memory about to be stored.
type memory struct {
	label        string
	text         string
	conversation value.Value
	id           value.Value
	ownID        bool // the id was given
	recalled     bool // it is told from what was recalled
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
	m := memory{label: vocab.LabelMemory, text: text}
	if len(o.def.Labels) > 0 {
		m.label = o.def.Labels[0]
	}
	for _, p := range []value.Prop{
		{Key: vocab.KeyContent, Value: value.String(text)},
		{Key: vocab.KeyTier, Value: value.String(vocab.TierWorking)},
		{Key: vocab.KeyLayer, Value: value.Int(1)},
		{Key: vocab.KeyImportance, Value: value.Float(.5)},
		{Key: vocab.KeyConfidence, Value: value.Float(1)},
		{Key: vocab.KeyCreatedAt, Value: value.OfDateTime(o.f.env.Statement)},
		{Key: vocab.KeyTags, Value: value.List(nil)},
		{Key: vocab.KeyStatus, Value: value.String(vocab.StatusActive)},
		{Key: vocab.KeyOrigin, Value: value.String(vocab.OriginUser)},
	} {
		m.set(p.Key, p.Value)
	}
	for _, p := range given {
		m.set(p.Key, p.Value)
		switch p.Key {
		case vocab.KeyConversation:
			m.conversation = p.Value
		case "id":
			m.id, m.ownID = p.Value, !p.Value.IsNull()
		case vocab.KeyOrigin:
			m.recalled = p.Value.AsString() == vocab.OriginRecall
		}
	}
	m.set(vocab.KeyContent, value.String(text))
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

func (o *remember) create(m *memory) (value.NodeID, error) {
	names := slices.Clone(o.def.Labels)
	if !slices.ContainsFunc(names, lifecycle.NoMemory) {
		names = append(names, vocab.LabelMemory)
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

// link makes the edges that LINK names, from the memory; one that was there before
// is not joined twice.
func (o *remember) link(in *batch.Batch, id value.NodeID, row int, isNew bool) error {
	for i, l := range o.def.Links {
		to := in.Cols[l.Node][row]
		if to.IsNull() {
			continue
		}
		if to.Kind() != value.KindNode {
			return missingEnd("", to, syntax.Span{})
		}
		weight := value.Null
		if o.weights[i] != nil {
			var err error
			if weight, err = o.weights[i](&o.f.env, row); err != nil {
				return err
			}
			if !weight.IsNull() && (!weight.IsNumber() || !(weight.AsFloat() >= 0)) {
				return typeError("WEIGHT of LINK needs a number from 0, but got %s", weight)
			}
		}
		g := changes{o.f.r, o.f}
		if !isNew {
			joined, err := lifecycle.Joined(g, id, to.NodeID(), l.Type)
			if err != nil {
				return err
			}
			if joined {
				continue
			}
		}
		props := []value.Prop{{Key: vocab.KeyWeight, Value: weight}}
		if l.Type == vocab.Supersedes {
			keep, err := lifecycle.Replaces(g, to.NodeID(), id)
			if err != nil {
				return err
			}
			props = append(props, keep)
		}
		if err := g.Link(id, to.NodeID(), l.Type, props...); err != nil {
			return err
		}
	}
	return nil
}

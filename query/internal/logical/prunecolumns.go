package logical

// pruneColumns tells every operator which slots live on behind it: those that
// are read above. Switched off, all slots with a value live on.
func (b *builder) pruneColumns(p *Part) {
	need := Slots(nil).With(p.Out...)
	if b.off.Has(PruneColumns) {
		need = nil
		for s := range p.Width {
			need = need.With(s)
		}
	}
	b.carry(p.Op, need, definitions{})
}

// carry sets Carry and Live of the tree at op, need being what is read above,
// and returns what the leaf of the chain has to provide.
func (b *builder) carry(op Op, need Slots, defined definitions) Slots {
	m := op.Info()
	m.Live = need.And(defined.of(op))
	inputs := op.Inputs()
	if len(inputs) == 0 {
		return m.Live
	}
	in := defined.of(*inputs[0])
	below := need.Without(Defines(op)...).Union(Reads(op)).And(in)
	switch o := op.(type) {
	case *Optional:
		below = below.Union(b.carry(o.Inner, m.Live.With(o.RowSlot), defined).Without(o.RowSlot))
	case *Merge:
		below = below.Union(b.carry(o.Inner, need.With(o.New...).Union(Reads(op)), defined))
	case *Foreach:
		below = below.Union(b.carry(o.Body, nil, defined).Without(o.Slot))
	case *Recall:
		if o.Within != nil {
			below = below.Union(b.carry(o.Within, Slots(nil).With(o.Call.Node), defined))
		}
	case *Aggregate:
		below = Reads(op)
	}
	if b.off.Has(PruneColumns) {
		below = in
	}
	m.Carry = need.Without(Defines(op)...).And(in).List()
	switch o := op.(type) {
	case *Aggregate:
		m.Carry = nil
	case *CountLookup:
		m.Carry, below = nil, Slots(nil).With(o.Args...)
	}
	return b.carry(*inputs[0], below, defined)
}

package logical

// insertBarriers puts an Eager below every operator that must not run before
// its whole input has run, since it writes what an operator below reads or
// writes, or reads what one below writes. It walks from the leaf up; seen are
// the effects since the last barrier.
//
// A clause doesn't see its own writes, and every clause sees all the writes of
// the clauses before it: with rows flowing in batches neither holds by itself.
//
// It returns the effects at op that are not behind a barrier.
func (b *builder) insertBarriers(op *Op) effects {
	inputs := (*op).Inputs()
	if len(inputs) == 0 {
		return effects{}
	}
	seen := b.insertBarriers(inputs[0])
	for _, inner := range inputs[1:] {
		b.insertBarriers(inner)
	}
	own := b.effects(*op)
	if b.needsBarrier(seen, own) {
		*inputs[0] = &Eager{Unary: unary(*inputs[0])}
		seen = effects{}
	}
	switch (*op).(type) {
	case *Aggregate, *Sort, *TopK, *Eager:
		// They read their input to the end before the first row: what is above
		// runs after all that is below. Their own expressions have run by then.
		return effects{}
	}
	seen.union(own)
	return seen
}

func (b *builder) needsBarrier(seen, own effects) bool {
	if b.off.Has(SpareBarriers) {
		return own.writes() && (seen.reads() || seen.writes()) || seen.writes() && own.reads()
	}
	return own.disturbs(seen) || seen.disturbs(own) || own.competes(seen)
}

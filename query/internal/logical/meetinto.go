package logical

// meetInto lets an expansion between two known nodes start from the end that
// has fewer edges.
func meetInto(op *Op) {
	if e, ok := (*op).(*Expand); ok && e.Into {
		e.Meet = true
	}
}

package learn

// How much is learned.
const (
	Rate = 0.05 // eta of Oja's rule
	// Least and Most bound a learned weight.
	Least, Most = 0.01, 0.95
	// MostOut bounds the sum of what was learned for the edges that leave a node.
	MostOut = 4.0
	// Together is how often two nodes without an edge are used together within
	// Window before they get one.
	Together = 3
	Window   = 7 * 24 * 3600 * 1000 // milliseconds
	// Group is of how many nodes of one use the pairs are looked at, the first ones.
	Group = 10
)

// Strengthen returns what is added, in units, to a learned weight when its two ends
// were used with strengths x and y from 0 to 1: eta (x y - y^2 w), Oja's rule (Oja
// 1982), kept between Least and Most. out is the sum of what was learned for the
// edges that leave the start, this one included.
func Strengthen(units int32, x, y float64, out int64) int32 {
	w := Float(units)
	next := w + float64(Rate*(float64(x*y)-float64(y*y*w)))
	after := Units(min(max(next, Least), Most))
	room := int64(Units(MostOut)) - out
	if grow := int64(after) - int64(units); grow > room {
		after = units + int32(max(room, 0))
	}
	return after - units
}

// Observe adds a time to those at which a pair was used together and drops the ones
// before the window. enough tells that it is due an edge.
func Observe(p Pair, at int64) (next Pair, enough bool) {
	for _, t := range p {
		if t > at-Window {
			next = append(next, t)
		}
	}
	next = append(next, at)
	return next, len(next) >= Together
}

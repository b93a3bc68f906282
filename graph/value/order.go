package value

import (
	"cmp"
	"strings"
)

// rank places kinds in the total order of ORDER BY. Between paths and strings
// openCypher leaves the temporal kinds open.
var rank = [kindCount]uint8{
	KindMap: 0, KindNode: 1, KindEdge: 2, KindList: 3, KindPath: 4,
	KindDateTime: 5, KindLocalDateTime: 6, KindDate: 7, KindTime: 8, KindLocalTime: 9, KindDuration: 10,
	KindString: 11, KindBool: 12, KindInt: 13, KindFloat: 13, KindNull: 15,
}

const rankNaN = 14

func rankOf(v Value) uint8 {
	if v.IsNaN() {
		return rankNaN
	}
	return rank[v.Kind()]
}

// Order is the total order of ORDER BY, min and max over all values: -1, 0 or 1
// as a sorts before, with or after b. Kinds sort as map, node, relationship,
// list, path, datetime, local datetime, date, time, local time, duration,
// string, boolean, number, NaN, null. Within a kind: maps by size, then keys,
// then values; nodes and edges by id; lists and paths element by element, the
// shorter first; zoned values by instant; durations by average length (a month
// is 30.436875 days), then by months and days.
func Order(a, b Value) int {
	ra, rb := rankOf(a), rankOf(b)
	if ra != rb {
		return cmp.Compare(ra, rb)
	}
	switch a.Kind() {
	case KindBool, KindNode, KindEdge:
		return cmp.Compare(a.num, b.num)
	case KindInt, KindFloat:
		c, _ := compareNumbers(a, b)
		return c
	case KindString:
		return strings.Compare(a.AsString(), b.AsString())
	case KindList:
		return orderLists(a.AsList(), b.AsList())
	case KindMap:
		return orderMaps(a.AsMap().Entries, b.AsMap().Entries)
	case KindPath:
		return orderPaths(a.AsPath(), b.AsPath())
	case KindDate, KindLocalTime:
		return cmp.Compare(int64(a.num), int64(b.num))
	case KindTime:
		return cmp.Compare(a.AsTime().utcNanos(), b.AsTime().utcNanos())
	case KindLocalDateTime:
		x, y := a.AsLocalDateTime(), b.AsLocalDateTime()
		return cmp.Or(cmp.Compare(x.Seconds, y.Seconds), cmp.Compare(x.Nanos, y.Nanos))
	case KindDateTime:
		x, y := a.AsDateTime(), b.AsDateTime()
		return cmp.Or(cmp.Compare(x.Seconds, y.Seconds), cmp.Compare(x.Nanos, y.Nanos))
	case KindDuration:
		return orderDurations(a.AsDuration(), b.AsDuration())
	}
	return 0
}

func orderLists(a, b []Value) int {
	for i := range min(len(a), len(b)) {
		if c := Order(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func orderMaps(a, b []Prop) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	for i := range a {
		if c := strings.Compare(a[i].Key, b[i].Key); c != 0 {
			return c
		}
	}
	for i := range a {
		if c := Order(a[i].Value, b[i].Value); c != 0 {
			return c
		}
	}
	return 0
}

// orderPaths compares the elements in the order of the walk.
func orderPaths(a, b *Path) int {
	for i := range min(len(a.Nodes), len(b.Nodes)) {
		if c := cmp.Compare(a.Nodes[i].num, b.Nodes[i].num); c != 0 {
			return c
		}
		if i < len(a.Edges) && i < len(b.Edges) {
			if c := cmp.Compare(a.Edges[i].num, b.Edges[i].num); c != 0 {
				return c
			}
		}
	}
	return cmp.Compare(len(a.Nodes), len(b.Nodes))
}

func orderDurations(x, y Duration) int {
	xd, xs := x.averageLength()
	yd, ys := y.averageLength()
	return cmp.Or(cmp.Compare(xd, yd), cmp.Compare(xs, ys), cmp.Compare(x.Nanos, y.Nanos),
		cmp.Compare(x.Months, y.Months), cmp.Compare(x.Days, y.Days), cmp.Compare(x.Seconds, y.Seconds))
}

// averageLength returns the average length of d in whole days and seconds of
// the last day (floored), apart from d.Nanos. Months are first split by the 400
// years (4,800 months, 146,097 days) after which the calendar repeats, so that
// nothing overflows.
func (d Duration) averageLength() (days, seconds int64) {
	cycles, months := floorDiv(d.Months, 4800)
	extra, rest := floorDiv(months*secondsPerAverageMonth, secondsPerDay)
	carry, secs := floorDiv(d.Seconds, secondsPerDay)
	more, secs := floorDiv(secs+rest, secondsPerDay)
	return satAdd(satAdd(satMul(cycles, daysPerCycle), extra+carry+more), d.Days), secs
}

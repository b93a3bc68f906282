package audit

import (
	"strconv"
	"strings"

	"engram/graph/value"
)

// cursor says where a list goes on: behind so many of its elements. When the graph
// changed since, last finds the place again.
type cursor struct {
	finding string
	edges   bool
	offset  int
	last    uint64 // the element before, by its number
}

// String is what users carry around: the finding, the list and two numbers.
func (c cursor) String() string {
	list := "nodes"
	if c.edges {
		list = "edges"
	}
	return c.finding + ":" + list + ":" + strconv.Itoa(c.offset) + ":" + strconv.FormatUint(c.last, 36)
}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	bad := invalid("%q is no cursor; give the one that the last part of the list ended with", s)
	parts := strings.Split(s, ":")
	if len(parts) != 4 || parts[1] != "nodes" && parts[1] != "edges" {
		return cursor{}, bad
	}
	offset, err := strconv.Atoi(parts[2])
	last, err2 := strconv.ParseUint(parts[3], 36, 64)
	if err != nil || err2 != nil || offset < 0 {
		return cursor{}, bad
	}
	for _, r := range rules() {
		if r.name == parts[0] {
			return cursor{parts[0], parts[1] == "edges", offset, last}, nil
		}
	}
	return cursor{}, bad
}

// page returns which elements of a list are shown, and the cursor behind them.
func (a *audit) page(finding string, edges bool, n int, at func(i int) uint64) (from, to int, next string) {
	if c := a.cursor; c.finding == finding && c.edges == edges && c.offset > 0 {
		from = min(c.offset, n)
		if from == 0 || at(from-1) != c.last {
			for i := range n {
				if at(i) == c.last {
					from = i + 1
					break
				}
			}
		}
	}
	to = min(from+a.o.Limit, n)
	if to < n {
		next = cursor{finding, edges, to, at(to - 1)}.String()
	}
	return from, to, next
}

// listNodes fills in the nodes of a finding: n of them in an order that does not
// depend on anything but the graph. why is asked for those only that are shown.
func (a *audit) listNodes(f *Finding, n int, at func(i int) value.NodeID, why func(i int) string) error {
	from, to, next := a.page(f.Name, false, n, func(i int) uint64 { return uint64(at(i)) })
	f.Nodes.Total, f.Nodes.Next = int64(n), next
	for i := from; i < to; i++ {
		ext, err := a.nodeName(at(i))
		if err != nil {
			return err
		}
		n := Node{ID: at(i), Ext: ext, Why: why(i)}
		if !a.tx.NodeExists(n.ID) {
			n.ID = 0
		}
		f.Nodes.Items = append(f.Nodes.Items, n)
	}
	return nil
}

// listEdges is listNodes for edges.
func (a *audit) listEdges(f *Finding, n int, at func(i int) value.EdgeID, why func(i int) string) error {
	from, to, next := a.page(f.Name, true, n, func(i int) uint64 { return uint64(at(i)) })
	f.Edges.Total, f.Edges.Next = int64(n), next
	for i := from; i < to; i++ {
		e, err := a.tx.LoadEdge(at(i))
		if err != nil {
			return err
		}
		f.Edges.Items = append(f.Edges.Items, Edge{ID: e.ID, Ext: e.ElementID, From: e.SrcElementID, To: e.DstElementID, Type: e.Type, Why: why(i)})
	}
	return nil
}

// slotIDs returns a function that gives the ids of slots.
func (a *audit) slotIDs(slots []uint32) func(i int) value.NodeID {
	return func(i int) value.NodeID { return a.shape.NodeID(slots[i]) }
}

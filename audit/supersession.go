package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
)

// supersession looks at what took whose place: chains, circles, memories that were
// replaced and come up all the same, and contradictions that nobody settled.
func supersession() rule {
	return rule{
		name:  "supersession",
		title: "Chains and circles of SUPERSEDES, replaced memories that recall still finds, contradictions that nobody settled.",
		begin: func(a *audit) (work, error) {
			w := &supersedeWork{a: a}
			w.supersedes, _ = a.tx.RelType(vocab.Supersedes)
			w.contradicts, _ = a.tx.RelType(vocab.Contradicts)
			w.status = a.want(vocab.KeyStatus)
			return work{edge: w.edge, record: w.record, end: w.end}, nil
		},
	}
}

type supersedeWork struct {
	a                       *audit
	supersedes, contradicts value.TypeID
	status                  value.KeyID
	edges                   []edge // SUPERSEDES, from the newer to the older
	against                 []edge // CONTRADICTS
	marked                  []value.NodeID
	newer                   map[uint32][]int // edges by the newer node
	color                   map[uint32]uint8
	length                  map[uint32]int // of the longest chain below a node
	back                    map[int]bool   // edges that lead back to where the walk came from
	closing                 []int          // edges without which there is no circle, the newest of each
	hits                    []hit
}

func (w *supersedeWork) edge(e edge) {
	switch {
	case e.typ == w.supersedes && w.supersedes != 0:
		w.edges = append(w.edges, e)
	case e.typ == w.contradicts && w.contradicts != 0:
		w.against = append(w.against, e)
	}
}

// record gathers the nodes that say that they were superseded.
func (w *supersedeWork) record(r *record) error {
	if v := r.Prop(w.status); v.Kind() == value.KindString && v.AsString() == vocab.StatusSuperseded {
		w.marked = append(w.marked, r.ID)
	}
	return nil
}

func (w *supersedeWork) end(f *Finding) error {
	a := w.a
	f.How = fmt.Sprintf("exact: over %d SUPERSEDES and %d CONTRADICTS edges and the status of %d nodes",
		len(w.edges), len(w.against), a.tx.NodeCount(0))
	longest, chains := w.chains()
	circles, err := w.circles()
	if err != nil {
		return err
	}
	open, err := w.open(f)
	if err != nil {
		return err
	}
	alone, err := w.alone(f)
	if err != nil {
		return err
	}
	unsettled, err := w.unsettled(f)
	if err != nil {
		return err
	}
	f.measure("superseded", int64(len(w.edges)), "edges")
	f.measure("chains", chains, "chains")
	f.measure("longest_chain", longest, "nodes")
	f.measure("circles", circles, "circles")
	f.measure("still_recalled", open, "nodes")
	f.measure("without_successor", alone, "nodes")
	f.measure("open_contradictions", len(unsettled), "edges")
	w.note(f, circles, open, alone, len(unsettled))
	if err := a.listEdges(f, len(unsettled), func(i int) value.EdgeID { return a.shape.EdgeID(unsettled[i].slot) },
		func(int) string { return "neither of the two was superseded or forgotten" }); err != nil {
		return err
	}
	return a.listHits(f, w.hits)
}

func (w *supersedeWork) note(f *Finding, circles, open, alone, unsettled int) {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, one)
		case n > 1:
			parts = append(parts, strconv.Itoa(n)+" "+many)
		}
	}
	add(circles, "a circle of memories that supersede each other, so that none of them holds",
		"circles of memories that supersede each other, so that none of them holds")
	add(open, "a superseded memory that recall still finds, and for its own words before its successor",
		"superseded memories that recall still finds, and for their own words before their successors")
	add(alone, "a memory that says it was superseded, by nothing that is there", "memories that say they were superseded, by nothing that is there")
	add(unsettled, "a contradiction that nobody settled: RESOLVE says which one holds", "contradictions that nobody settled: RESOLVE says which one holds")
	switch {
	case circles > 0:
		f.Status = Defect
	case len(parts) > 0:
		f.Status = Notice
	case len(w.edges)+len(w.against) == 0:
		f.Note = "Nothing was superseded, and nothing contradicts anything."
		return
	default:
		f.Note = "What was superseded has one successor that holds, and recall leaves it out."
		return
	}
	f.Note = "Found: " + strings.Join(parts, "; ") + "."
}

// chains walks down from every node, marks the edges that close a circle, and returns
// how many nodes the longest chain has and how many chains have a beginning.
func (w *supersedeWork) chains() (longest, heads int) {
	w.newer, w.color, w.length, w.back = map[uint32][]int{}, map[uint32]uint8{}, map[uint32]int{}, map[int]bool{}
	older := map[uint32]bool{}
	for i, e := range w.edges {
		w.newer[e.from] = append(w.newer[e.from], i)
		older[e.to] = true
	}
	for _, e := range w.edges {
		w.descend(e.from)
	}
	counted := map[uint32]bool{}
	for _, e := range w.edges {
		if !older[e.from] && !counted[e.from] {
			counted[e.from] = true
			heads++
		}
		longest = max(longest, w.length[e.from]+1)
	}
	return longest, heads
}

// descend walks depth-first without recursion: chains may be long.
func (w *supersedeWork) descend(root uint32) {
	type step struct {
		node uint32
		next int
	}
	if w.color[root] != 0 {
		return
	}
	w.color[root] = 1
	for stack := []step{{node: root}}; len(stack) > 0; {
		at := &stack[len(stack)-1]
		out := w.newer[at.node]
		if at.next == len(out) {
			w.color[at.node] = 2
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				up := stack[len(stack)-1].node
				w.length[up] = max(w.length[up], w.length[at.node]+1)
			}
			continue
		}
		i := out[at.next]
		at.next++
		to := w.edges[i].to
		switch w.color[to] {
		case 0:
			w.color[to] = 1
			stack = append(stack, step{node: to})
		case 1:
			w.back[i] = true
		default:
			w.length[at.node] = max(w.length[at.node], w.length[to]+1)
		}
	}
}

// circles lists the nodes of circles, those that lead back to themselves, and finds
// the edges that closed them: of each circle the newest one.
func (w *supersedeWork) circles() (int, error) {
	within := map[uint32]bool{}
	for _, i := range slices.Sorted(maps.Keys(w.back)) {
		if w.a.ctx.Err() != nil {
			return 0, canceled(w.a.ctx)
		}
		e := w.edges[i]
		// The circle is what leads from the end of the closing edge to its start.
		down, up := w.reach(w.newer, e.to, false), w.reach(w.newer, e.from, true)
		for s := range down {
			if up[s] {
				within[s] = true
			}
		}
	}
	for s := range within {
		w.hits = append(w.hits, hit{w.a.shape.NodeID(s), "it is part of a circle of SUPERSEDES"})
	}
	var inside []int
	for i, e := range w.edges {
		if within[e.from] && within[e.to] {
			inside = append(inside, i)
		}
	}
	slices.SortFunc(inside, func(x, y int) int {
		return cmp.Compare(w.a.shape.EdgeID(w.edges[x].slot), w.a.shape.EdgeID(w.edges[y].slot))
	})
	before := map[uint32][]int{}
	for _, i := range inside {
		if w.a.ctx.Err() != nil {
			return 0, canceled(w.a.ctx)
		}
		e := w.edges[i]
		if w.reach(before, e.to, false)[e.from] {
			w.closing = append(w.closing, i)
			continue
		}
		before[e.from] = append(before[e.from], i)
	}
	return len(w.closing), nil
}

// reach returns what a walk along some edges reaches, or with up against all.
func (w *supersedeWork) reach(along map[uint32][]int, from uint32, up bool) map[uint32]bool {
	above := map[uint32][]uint32{}
	if up {
		for _, e := range w.edges {
			above[e.to] = append(above[e.to], e.from)
		}
	}
	seen := map[uint32]bool{from: true}
	for next := []uint32{from}; len(next) > 0; {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		var to []uint32
		if up {
			to = above[s]
		} else {
			for _, i := range along[s] {
				to = append(to, w.edges[i].to)
			}
		}
		for _, t := range to {
			if !seen[t] {
				seen[t] = true
				next = append(next, t)
			}
		}
	}
	return seen
}

// open lists superseded memories that recall finds all the same, and suggests what
// ends circles first: then they can be closed.
func (w *supersedeWork) open(f *Finding) (int, error) {
	a := w.a
	for _, i := range w.closing {
		from, to, err := w.ends(w.edges[i])
		if err != nil {
			return 0, err
		}
		a.suggest(f, fmt.Sprintf("MATCH ({id: %s})-[r:%s]->({id: %s}) DELETE r", quoted(from), vocab.Supersedes, quoted(to)))
	}
	done := map[uint32]bool{}
	n := 0
	byOlder := slices.Clone(w.edges)
	slices.SortStableFunc(byOlder, func(x, y edge) int { return cmp.Compare(a.shape.NodeID(x.to), a.shape.NodeID(y.to)) })
	closing := map[uint32]bool{} // by edge slot
	for _, i := range w.closing {
		closing[w.edges[i].slot] = true
	}
	for _, e := range byOlder {
		if done[e.to] || closing[e.slot] {
			continue
		}
		s, err := a.state(a.shape.NodeID(e.to))
		if err != nil {
			return n, err
		}
		if !s.recalled() {
			continue
		}
		done[e.to] = true
		n++
		from, to, err := w.ends(e)
		if err != nil {
			return n, err
		}
		w.hits = append(w.hits, hit{a.shape.NodeID(e.to), "superseded by " + from + ", but its status and validity are open, so recall finds it"})
		a.suggest(f, fmt.Sprintf("SUPERSEDE %s BY %s", quoted(to), quoted(from)))
	}
	return n, nil
}

func (w *supersedeWork) ends(e edge) (from, to string, err error) {
	if from, err = w.a.tx.ElementID(w.a.shape.NodeID(e.from)); err != nil {
		return "", "", err
	}
	to, err = w.a.tx.ElementID(w.a.shape.NodeID(e.to))
	return from, to, err
}

// alone lists memories that say that they were superseded although nothing that is
// there supersedes them: what took their place was deleted.
func (w *supersedeWork) alone(f *Finding) (int, error) {
	closing := map[int]bool{}
	for _, i := range w.closing {
		closing[i] = true
	}
	older, left := map[value.NodeID]bool{}, map[value.NodeID]bool{} // left when circles are undone
	for i, e := range w.edges {
		older[w.a.shape.NodeID(e.to)] = true
		if !closing[i] {
			left[w.a.shape.NodeID(e.to)] = true
		}
	}
	n := 0
	for _, id := range w.marked {
		if older[id] {
			if !left[id] {
				if err := w.reopen(f, id); err != nil {
					return n, err
				}
			}
			continue
		}
		n++
		w.hits = append(w.hits, hit{id, "its status is superseded, but no SUPERSEDES edge leads to it"})
		if err := w.reopen(f, id); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (w *supersedeWork) reopen(f *Finding, id value.NodeID) error {
	ext, err := w.a.tx.ElementID(id)
	if err != nil {
		return err
	}
	w.a.suggest(f, fmt.Sprintf("MATCH (m {id: %s}) SET m.status = 'active' REMOVE m.valid_to", quoted(ext)))
	return nil
}

// unsettled returns the contradictions between two memories that recall both finds.
func (w *supersedeWork) unsettled(f *Finding) ([]edge, error) {
	a := w.a
	var out []edge
	for _, e := range w.against {
		both := true
		for _, s := range []uint32{e.from, e.to} {
			st, err := a.state(a.shape.NodeID(s))
			if err != nil {
				return nil, err
			}
			both = both && st.recalled()
		}
		if both {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(x, y edge) int { return cmp.Compare(a.shape.EdgeID(x.slot), a.shape.EdgeID(y.slot)) })
	for _, e := range out {
		winner, loser := e.from, e.to // the newer one first
		if a.shape.NodeID(winner) < a.shape.NodeID(loser) {
			winner, loser = loser, winner
		}
		from, to, err := w.ends(edge{from: winner, to: loser})
		if err != nil {
			return nil, err
		}
		a.suggest(f, fmt.Sprintf("RESOLVE %s OVER %s", quoted(from), quoted(to)))
	}
	return out, nil
}

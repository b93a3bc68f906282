package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// names is a set of names, or all names.
type names struct {
	all bool
	set map[string]bool
}

func (n *names) add(more ...string) {
	for _, s := range more {
		if n.set == nil {
			n.set = map[string]bool{}
		}
		n.set[s] = true
	}
}

func (n names) empty() bool { return !n.all && len(n.set) == 0 }

func (n names) meets(m names) bool {
	if n.empty() || m.empty() {
		return false
	}
	if n.all || m.all {
		return true
	}
	for s := range n.set {
		if m.set[s] {
			return true
		}
	}
	return false
}

func (n *names) union(m names) {
	n.all = n.all || m.all
	for s := range m.set {
		n.add(s)
	}
}

// effects is what an operator reads of the graph and writes to it.
type effects struct {
	scans  names // nodes found by label; all: by scanning or by id
	walks  names // edges followed, by type
	keys   names // properties read
	labels names // labels tested or listed

	makesNodes     names // labels of the nodes it creates
	makesBareNodes bool  // creates nodes
	makesEdges     names // types of the edges it creates
	setsKeys       names
	setsLabels     names
	deletes        bool
}

func (e effects) writes() bool {
	return e.makesBareNodes || e.deletes || !e.makesEdges.empty() || !e.setsKeys.empty() || !e.setsLabels.empty()
}

func (e effects) reads() bool {
	return !e.scans.empty() || !e.walks.empty() || !e.keys.empty() || !e.labels.empty()
}

func (e *effects) union(f effects) {
	e.scans.union(f.scans)
	e.walks.union(f.walks)
	e.keys.union(f.keys)
	e.labels.union(f.labels)
	e.makesNodes.union(f.makesNodes)
	e.makesEdges.union(f.makesEdges)
	e.setsKeys.union(f.setsKeys)
	e.setsLabels.union(f.setsLabels)
	e.makesBareNodes = e.makesBareNodes || f.makesBareNodes
	e.deletes = e.deletes || f.deletes
}

// disturbs reports whether what e writes could change what f reads.
func (e effects) disturbs(f effects) bool {
	if e.deletes && f.reads() {
		return true
	}
	if e.makesBareNodes && (f.scans.all || f.scans.meets(e.makesNodes)) {
		return true
	}
	return f.walks.meets(e.makesEdges) || f.keys.meets(e.setsKeys) || f.labels.meets(e.setsLabels) ||
		f.scans.meets(e.setsLabels) || f.scans.all && e.setsKeys.meets(idKey)
}

var idKey = names{set: map[string]bool{"id": true}}

// competes reports whether the order of the writes of e and f matters.
func (e effects) competes(f effects) bool {
	return e.deletes && f.writes() || f.deletes && e.writes() ||
		e.setsKeys.meets(f.setsKeys) || e.setsLabels.meets(f.setsLabels)
}

// effects returns what op does itself, the trees and queries inside it included
// but not its input.
func (b *builder) effects(op Op) effects {
	e := effectsOf(op)
	for _, x := range exprsOf(op) {
		b.exprEffects(x, &e)
	}
	switch o := op.(type) {
	case *Optional:
		e.union(b.treeEffects(o.Inner))
	case *Merge:
		e.union(b.treeEffects(o.Inner))
	case *Foreach:
		e.union(b.treeEffects(o.Body))
	case *CallSubquery:
		e.union(b.queryEffects(o.Query))
	}
	return e
}

func (b *builder) treeEffects(op Op) effects {
	e := b.effects(op)
	if in := op.Inputs(); len(in) > 0 {
		e.union(b.treeEffects(*in[0]))
	}
	return e
}

func (b *builder) queryEffects(q *Query) effects {
	var e effects
	if q == nil { // being planned: a subquery inside itself cannot be
		return e
	}
	for _, p := range q.Parts {
		e.union(b.treeEffects(p.Op))
	}
	return e
}

// effectsOf returns what op does by its kind alone.
func effectsOf(op Op) effects {
	var e effects
	switch o := op.(type) {
	case *NodeScan:
		e.scans.all = o.Label == ""
		if o.Label != "" {
			e.scans.add(o.Label)
		}
	case *CountLookup:
		switch {
		case o.Edges:
			e.walk(o.Types)
		case o.Label == "":
			e.scans.all = true
		default:
			e.scans.add(o.Label)
		}
	case *IDSeek:
		e.scans.all = true
		e.keys.add("id")
	case *IndexSeek:
		if o.Edge {
			e.walks.add(o.Owner)
		} else {
			e.scans.add(o.Owner)
		}
		e.keys.add(o.Keys...)
	case *ValueJoin:
		e.scans.all = o.Label == ""
		if o.Label != "" {
			e.scans.add(o.Label)
		}
		e.keys.add(o.Key)
	case *Expand:
		e.walk(o.Types)
	case *Degree:
		e.walk(o.Types)
	case *BoundExpand:
		e.walk(o.Types)
		// The empty walk starts at any node.
		e.scans.all = e.scans.all || o.List && o.Min == 0 && !o.FromBound && !o.ToBound
	case *VarExpand:
		e.walk(o.Types)
		e.propKeys(o.Props)
	case *ShortestPath:
		e.walk(o.Types)
		e.propKeys(o.Props)
	case *Create:
		e.makes(o.Patterns...)
	case *Merge:
		e.makes(o.Pattern)
		e.sets(o.OnCreate)
		e.sets(o.OnMatch)
	case *Set:
		e.sets(o.Items)
	case *Remove:
		for _, it := range o.Items {
			e.setsLabels.add(it.Labels...)
			if len(it.Labels) == 0 {
				e.setsKeys.add(it.Key)
			}
		}
	case *Delete:
		e.deletes = true
	case *Remember:
		e.scans.all, e.keys.all, e.walks.all = true, true, true
		e.makesBareNodes, e.makesNodes.all, e.makesEdges.all, e.setsKeys.all = true, true, true, true
	case *Recall:
		e.readsAll()
	case *CallProc:
		e.readsAll()
		e.makesEdges.all, e.setsKeys.all, e.deletes = o.Call.Writes, o.Call.Writes, o.Call.Deletes
	}
	return e
}

func (e *effects) readsAll() {
	e.scans.all, e.keys.all, e.walks.all, e.labels.all = true, true, true, true
}

func (e *effects) walk(types []string) {
	e.walks.all = len(types) == 0
	e.walks.add(types...)
}

func (e *effects) propKeys(props []bound.PropPat) {
	for _, p := range props {
		e.keys.add(p.Key)
	}
}

func (e *effects) makes(patterns ...*bound.Pattern) {
	for _, p := range patterns {
		for _, n := range p.Nodes {
			if n.Bound {
				continue
			}
			e.makesBareNodes = true
			labelNames(n.Labels, &e.makesNodes)
			e.makesNodes.all = e.makesNodes.all || n.LabelsFrom != nil
		}
		for _, r := range p.Rels {
			e.makesEdges.add(r.Types...)
			e.makesEdges.all = e.makesEdges.all || r.TypeFrom != nil
		}
	}
}

func (e *effects) sets(items []*bound.SetItem) {
	for _, it := range items {
		switch it.Kind {
		case syntax.SetProperty:
			e.setsKeys.add(it.Key)
		case syntax.SetLabels:
			e.setsLabels.add(it.Labels...)
			e.setsLabels.all = e.setsLabels.all || it.Value != nil
		case syntax.UnsetLabels:
			e.setsLabels.all = true
		default:
			e.setsKeys.all = true
			e.keys.all = true
		}
	}
}

// labelNames adds the names in a label expression; % and ! depend on all.
func labelNames(l syntax.LabelExpr, out *names) {
	switch l := l.(type) {
	case *syntax.LabelName:
		out.add(l.Text)
	case *syntax.LabelAnd:
		labelNames(l.L, out)
		labelNames(l.R, out)
	case *syntax.LabelOr:
		labelNames(l.L, out)
		labelNames(l.R, out)
	case *syntax.LabelNot:
		labelNames(l.E, out)
	case *syntax.LabelAny:
		out.all = true
	}
}

// exprEffects adds what an expression reads.
func (b *builder) exprEffects(e bound.Expr, out *effects) {
	Walk(e, func(e bound.Expr) {
		switch e := e.(type) {
		case *bound.Prop:
			out.keys.add(e.Key)
		case *bound.Index:
			out.keys.all = true
		case *bound.MapProjection:
			out.keys.all = out.keys.all || e.Star
			out.keys.add(e.Keys...)
		case *bound.HasLabels:
			labelNames(e.Labels, &out.labels)
		case *bound.Call:
			switch e.Name {
			case "properties", "keys", "similarity":
				out.keys.all = true
			case "labels", syntax.HasAllNames, syntax.HasAnyName:
				out.labels.all = true
			case "id", "elementId", "type", "startNode", "endNode", "exists":
				out.keys.add("id") // anything, so that a deletion disturbs it
			}
		case *bound.Subquery:
			out.union(b.queryEffects(b.subs[e]))
		}
	})
}

package fn

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

func graphFuncs() []Func {
	return []Func{
		{
			Name: "labels", Doc: "The labels of a node.",
			Params: []bound.Type{nodeT}, Required: 1, Result: bound.ListOf(stringT), Call: labels,
		},
		{
			Name: "type", Doc: "The type of a relationship.",
			Params: []bound.Type{edgeT}, Required: 1, Result: stringT, Call: relType,
		},
		{
			Name: "id", Doc: "The number of a node or relationship inside its database.",
			Params: []bound.Type{entityT}, Required: 1, Result: intT, Call: id,
		},
		{
			Name: "elementId", Doc: "The external id of a node or relationship.",
			Params: []bound.Type{entityT}, Required: 1, Result: stringT, Call: elementID,
		},
		{
			Name: "keys", Doc: "The property names of a node, relationship or map.",
			Params: []bound.Type{entityT.Or(mapT)}, Required: 1, Result: bound.ListOf(stringT), Call: keys,
		},
		{
			Name: "properties", Doc: "The properties of a node or relationship as a map.",
			Params: []bound.Type{entityT.Or(mapT)}, Required: 1, Result: mapT, Call: properties,
		},
		{
			Name: "startNode", Doc: "The node a relationship starts at.",
			Params: []bound.Type{edgeT}, Required: 1, Result: nodeT, Call: startNode,
		},
		{
			Name: "endNode", Doc: "The node a relationship ends at.",
			Params: []bound.Type{edgeT}, Required: 1, Result: nodeT, Call: endNode,
		},
		{
			Name: "termFrequency", Doc: "The words of a text that are searched for, with the number of nodes whose text has each.",
			Params: []bound.Type{stringT}, Required: 1, Result: mapT, Call: termFrequency,
		},
		{
			Name: "nodes", Doc: "The nodes of a path in order.",
			Params: []bound.Type{pathT}, Required: 1, Pure: true, Result: bound.ListOf(nodeT),
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.List(args[0].AsPath().Nodes), nil
			},
		},
		{
			Name: "relationships", Doc: "The relationships of a path in order.",
			Params: []bound.Type{pathT}, Required: 1, Pure: true, Result: bound.ListOf(edgeT),
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.List(args[0].AsPath().Edges), nil
			},
		},
		{
			Name: "length", Doc: "The number of relationships of a path.",
			Params: []bound.Type{pathT}, Required: 1, Pure: true, Result: intT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.Int(int64(len(args[0].AsPath().Edges))), nil
			},
		},
	}
}

// Deleted is the error for reading an entity that the statement has deleted.
func Deleted(v value.Value) error {
	what, n := "node", uint64(v.NodeID())
	if v.Kind() == value.KindEdge {
		what, n = "relationship", uint64(v.EdgeID())
	}
	return fault.AtRuntime(fault.EntityNotFound, "DeletedEntityAccess", "%s %d has been deleted in this statement", what, n)
}

func labels(c *Context, args []value.Value) (value.Value, error) {
	if n := args[0].AsNode(); n != nil {
		return stringList(n.Labels), nil
	}
	id := args[0].NodeID()
	var buf [8]value.LabelID
	ids := c.Reader.Labels(id, buf[:0])
	if len(ids) == 0 && !c.ReadOnly && !c.Reader.NodeExists(id) {
		return value.Null, Deleted(args[0])
	}
	out := make([]value.Value, len(ids))
	for i, l := range ids {
		out[i] = value.String(c.Reader.LabelName(l))
	}
	return value.List(out), nil
}

// relType answers for deleted relationships too: what they were is still known.
func relType(c *Context, args []value.Value) (value.Value, error) {
	if e := args[0].AsEdge(); e != nil {
		return value.String(e.Type), nil
	}
	_, _, t, ok := c.Reader.EdgeEnds(args[0].EdgeID())
	if !ok && t == 0 {
		return value.Null, Deleted(args[0])
	}
	return value.String(c.Reader.RelTypeName(t)), nil
}

func id(_ *Context, args []value.Value) (value.Value, error) {
	if args[0].Kind() == value.KindNode {
		return value.Int(int64(args[0].NodeID())), nil
	}
	return value.Int(int64(args[0].EdgeID())), nil
}

func elementID(c *Context, args []value.Value) (value.Value, error) {
	n, e, err := c.load(args[0])
	switch {
	case err != nil:
		return value.Null, err
	case n != nil:
		return value.String(n.ElementID), nil
	}
	return value.String(e.ElementID), nil
}

// load returns the node or edge that v stands for; exactly one is not nil.
func (c *Context) load(v value.Value) (n *value.Node, e *value.Edge, err error) {
	if v.Kind() == value.KindNode {
		if n = v.AsNode(); n == nil {
			n, err = c.Reader.LoadNode(v.NodeID())
		}
	} else if e = v.AsEdge(); e == nil {
		e, err = c.Reader.LoadEdge(v.EdgeID())
	}
	if err == nil && n == nil && e == nil {
		err = Deleted(v)
	}
	return n, e, err
}

// Properties returns the properties of a node or edge, or the entries of a map,
// in ascending order of key. The slice is read only.
func (c *Context) Properties(v value.Value) ([]value.Prop, error) {
	if v.Kind() == value.KindMap {
		return v.AsMap().Entries, nil
	}
	n, e, err := c.load(v)
	switch {
	case err != nil:
		return nil, err
	case n != nil:
		return n.Properties, nil
	}
	return e.Properties, nil
}

func keys(c *Context, args []value.Value) (value.Value, error) {
	props, err := c.Properties(args[0])
	if err != nil {
		return value.Null, err
	}
	out := make([]value.Value, len(props))
	for i, p := range props {
		out[i] = value.String(p.Key)
	}
	return value.List(out), nil
}

func properties(c *Context, args []value.Value) (value.Value, error) {
	if args[0].Kind() == value.KindMap {
		return args[0], nil
	}
	props, err := c.Properties(args[0])
	if err != nil {
		return value.Null, err
	}
	return value.Map(append([]value.Prop(nil), props...)), nil
}

func startNode(c *Context, args []value.Value) (value.Value, error) {
	src, _, err := c.ends(args[0])
	return value.NodeRef(src), err
}

func endNode(c *Context, args []value.Value) (value.Value, error) {
	_, dst, err := c.ends(args[0])
	return value.NodeRef(dst), err
}

func (c *Context) ends(v value.Value) (src, dst value.NodeID, err error) {
	if e := v.AsEdge(); e != nil {
		return e.Src, e.Dst, nil
	}
	src, dst, _, ok := c.Reader.EdgeEnds(v.EdgeID())
	if !ok {
		return 0, 0, Deleted(v)
	}
	return src, dst, nil
}

func stringList(ss []string) value.Value {
	out := make([]value.Value, len(ss))
	for i, s := range ss {
		out[i] = value.String(s)
	}
	return value.List(out)
}

func termFrequency(c *Context, args []value.Value) (value.Value, error) {
	a, ok := c.Reader.(access.TextAnalyser)
	if !ok {
		return value.Null, fault.AtRuntime(fault.NotSupported, "", "this graph does not search text")
	}
	counts, err := a.TermFrequency(args[0].AsString(), func(nodes, bytes int) error {
		if bytes > 0 {
			if err := c.Take(bytes); err != nil {
				return err
			}
		}
		return c.step(nodes)
	})
	if err != nil {
		return value.Null, err
	}
	props := make([]value.Prop, len(counts))
	for i, n := range counts {
		props[i] = value.Prop{Key: n.Term, Value: value.Int(n.Nodes)}
	}
	return value.Map(props), nil
}

package fn

import (
	"math"
	"time"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// meaningT is what similarity compares: a text, a node's text, or a vector.
var meaningT = bound.OneOf(value.KindString, value.KindNode, value.KindList)

func learnedFuncs() []Func {
	return []Func{
		{
			Name: "similarity", Doc: "How near two texts, nodes or vectors are in meaning, from -1 to 1; null when one says nothing to the model.",
			Params: []bound.Type{meaningT, meaningT}, Required: 2, Result: floatT, Call: similarity,
		},
		{
			Name: "activity", Doc: "How often a node was used, as was learned, and when last: a map of uses and last_used.",
			Params: []bound.Type{nodeT}, Required: 1, Result: mapT, Call: activity,
		},
		{
			Name: "learnedWeight", Doc: "What was learned to add to the weight of a relationship.",
			Params: []bound.Type{edgeT}, Required: 1, Result: floatT, Call: learnedWeight,
		},
	}
}

// similarity is the cosine of two vectors.
func similarity(c *Context, args []value.Value) (value.Value, error) {
	a, err := meaning(c, args[0])
	if err != nil {
		return value.Null, err
	}
	b, err := meaning(c, args[1])
	if a == nil || b == nil || err != nil {
		return value.Null, err
	}
	if len(a) != len(b) {
		return value.Null, fault.AtRuntime(fault.ArgumentError, "DifferentDimensions",
			"similarity() compares vectors of the same model, but these have %d and %d dimensions", len(a), len(b))
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i] * b[i])
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
	}
	if aa == 0 || bb == 0 {
		return value.Null, nil
	}
	return value.Float(min(max(dot/(math.Sqrt(aa)*math.Sqrt(bb)), -1), 1)), nil
}

// meaning returns the vector of a text, of a node's text, or of numbers; nil when
// there is none.
func meaning(c *Context, v value.Value) ([]float64, error) {
	if v.Kind() == value.KindList {
		out := make([]float64, len(v.AsList()))
		for i, x := range v.AsList() {
			if !x.IsNumber() {
				return nil, fault.AtRuntime(fault.TypeError, "InvalidArgumentType", "similarity() compares lists of numbers, but this has %s in it", x)
			}
			out[i] = x.AsFloat()
		}
		return out, nil
	}
	vectors, ok := c.Reader.(access.VectorReader)
	if !ok {
		return nil, nil
	}
	var narrow []float32
	var err error
	if v.Kind() == value.KindNode {
		narrow, err = vectors.NodeVector(v.NodeID())
	} else {
		narrow = vectors.EmbedText(v.AsString())
	}
	if narrow == nil || err != nil {
		return nil, err
	}
	out := make([]float64, len(narrow))
	for i, x := range narrow {
		out[i] = float64(x)
	}
	return out, nil
}

func activity(c *Context, args []value.Value) (value.Value, error) {
	var a value.Activity
	if l, ok := c.Reader.(access.LearningReader); ok {
		a = l.Activity(args[0].NodeID())
	}
	last := value.Null
	if a.LastUsed != 0 {
		t := time.UnixMilli(a.LastUsed)
		last = value.OfDateTime(value.DateTime{Seconds: t.Unix(), Nanos: int32(t.Nanosecond())})
	}
	return value.Map([]value.Prop{{Key: "last_used", Value: last}, {Key: "uses", Value: value.Int(a.Uses)}}), nil
}

func learnedWeight(c *Context, args []value.Value) (value.Value, error) {
	if l, ok := c.Reader.(access.LearningReader); ok {
		return value.Float(l.LearnedWeight(args[0].EdgeID())), nil
	}
	return value.Float(0), nil
}

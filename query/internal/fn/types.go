package fn

import (
	"engram/graph/value"
	"engram/query/internal/bound"
)

// The types that function signatures are written in.
var (
	anyT      = bound.Any
	boolT     = bound.OneOf(value.KindBool)
	intT      = bound.OneOf(value.KindInt)
	floatT    = bound.OneOf(value.KindFloat)
	numT      = bound.OneOf(value.KindInt, value.KindFloat)
	stringT   = bound.OneOf(value.KindString)
	listT     = bound.OneOf(value.KindList)
	mapT      = bound.OneOf(value.KindMap)
	nodeT     = bound.OneOf(value.KindNode)
	edgeT     = bound.OneOf(value.KindEdge)
	pathT     = bound.OneOf(value.KindPath)
	entityT   = bound.OneOf(value.KindNode, value.KindEdge)
	durationT = bound.OneOf(value.KindDuration)
	instantT  = bound.OneOf(value.KindDate, value.KindLocalTime, value.KindTime, value.KindLocalDateTime, value.KindDateTime)
)

// sameAs is the result of functions that return a value of their argument's type.
func sameAs(args []bound.Type) bound.Type {
	if len(args) == 0 {
		return anyT
	}
	return args[0]
}

// elemOf is the result of functions that pick an element of a list.
func elemOf(args []bound.Type) bound.Type {
	if len(args) == 0 || args[0].Elem == nil {
		return anyT
	}
	return *args[0].Elem
}

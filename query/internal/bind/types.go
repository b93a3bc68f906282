package bind

import (
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// The sets of kinds that operators ask for.
var (
	kBool     = bound.Of(value.KindBool)
	kInt      = bound.Of(value.KindInt)
	kFloat    = bound.Of(value.KindFloat)
	kNumber   = bound.Of(value.KindInt, value.KindFloat)
	kString   = bound.Of(value.KindString)
	kList     = bound.Of(value.KindList)
	kNode     = bound.Of(value.KindNode)
	kEdge     = bound.Of(value.KindEdge)
	kEntity   = bound.Of(value.KindNode, value.KindEdge)
	kGraph    = bound.Of(value.KindNode, value.KindEdge, value.KindPath)
	kMapLike  = bound.Of(value.KindNode, value.KindEdge, value.KindMap)
	kInstant  = bound.Of(value.KindDate, value.KindLocalTime, value.KindTime, value.KindLocalDateTime, value.KindDateTime)
	kDuration = bound.Of(value.KindDuration)
	// kKeyed are the kinds that e.key can be asked of.
	kKeyed = kMapLike | kInstant | kDuration
	kSum   = kNumber | kString | kList | kInstant | kDuration
	kDiff  = kNumber | kInstant | kDuration
	kScale = kNumber | kDuration
)

var (
	boolType  = bound.OneOf(value.KindBool)
	intType   = bound.OneOf(value.KindInt)
	nodeType  = bound.OneOf(value.KindNode)
	edgeType  = bound.OneOf(value.KindEdge)
	pathType  = bound.OneOf(value.KindPath)
	edgesType = bound.ListOf(edgeType)
)

// kindNames says what a set of kinds holds, such as "INTEGER or FLOAT".
func kindNames(k bound.Kinds) string {
	var list []string
	instants := k&kInstant == kInstant
	for kind := value.KindBool; kind <= value.KindDuration; kind++ {
		if k.Has(kind) && !(instants && kInstant.Has(kind)) {
			list = append(list, kind.String())
		}
	}
	if instants {
		list = append(list, "any date or time")
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// an puts the indefinite article before the names of kinds.
func an(k bound.Kinds) string {
	names := kindNames(k)
	if strings.HasPrefix(names, "I") {
		return "an " + names
	}
	return "a " + names
}

// demand reports an argument that can't be of one of the kinds. what names the
// place that asks, such as "NOT" or "size()".
func (b *binder) demand(e bound.Expr, kinds bound.Kinds, what string) {
	b.demandAs(fault.SyntaxError, e, kinds, what)
}

func (b *binder) demandAs(t fault.Type, e bound.Expr, kinds bound.Kinds, what string) {
	if !e.Type().Never(kinds) {
		return
	}
	b.fail(fault.New(t, fault.CompileTime, "InvalidArgumentType", e.At(),
		"%s needs %s, this is %s", what, an(kinds), an(e.Type().Kinds)))
}

// unaryType checks NOT, minus and plus and returns the type of the result.
func (b *binder) unaryType(op syntax.Op, e bound.Expr) bound.Type {
	if op == syntax.OpNot {
		b.demand(e, kBool, "NOT")
		return boolType
	}
	b.demand(e, kScale, "a sign")
	return bound.Type{Kinds: e.Type().Kinds & (kScale | bound.Null.Kinds)}
}

// binaryType checks the operands of op and returns the type of the result.
func (b *binder) binaryType(op syntax.Op, l, r bound.Expr) bound.Type {
	both := func(kinds bound.Kinds, what string) {
		b.demand(l, kinds, what)
		b.demand(r, kinds, what)
	}
	switch op {
	case syntax.OpOr:
		both(kBool, "OR")
	case syntax.OpXor:
		both(kBool, "XOR")
	case syntax.OpAnd:
		both(kBool, "AND")
	case syntax.OpIn:
		b.demand(r, kList, "IN")
	case syntax.OpAdd:
		b.checkSum(l, r)
		return sumType(l.Type(), r.Type())
	case syntax.OpConcat:
		return b.concatType(l, r)
	case syntax.OpSub:
		both(kDiff, "-")
		return arithmeticType(l.Type(), r.Type(), kDiff)
	case syntax.OpMul:
		both(kScale, "*")
		return arithmeticType(l.Type(), r.Type(), kScale)
	case syntax.OpDiv:
		both(kScale, "/")
		return arithmeticType(l.Type(), r.Type(), kScale)
	case syntax.OpMod:
		both(kNumber, "%")
		return arithmeticType(l.Type(), r.Type(), kNumber)
	case syntax.OpPow:
		both(kNumber, "^")
		return bound.OneOf(value.KindFloat)
	}
	return boolType
}

// concatType checks the operands of || and returns the type of the result.
func (b *binder) concatType(l, r bound.Expr) bound.Type {
	for _, e := range []bound.Expr{l, r} {
		if e.Type().Never(kString | kList) {
			b.fail(fault.Syntax("InvalidArgumentType", e.At(), "|| needs %s, this is %s", an(kString|kList), an(e.Type().Kinds)).
				WithHint("It joins strings and lists; conditions are joined by OR."))
		}
	}
	switch t := l.Type().Or(r.Type()); {
	case isNull(l.Type()) || isNull(r.Type()):
		return bound.Null
	case t.Only(kString), t.Only(kList):
		return t
	}
	return bound.Type{Kinds: kString | kList | bound.Null.Kinds}
}

// checkSum refuses sums that can't work: a list takes any partner, a string
// takes anything that prints as a scalar.
func (b *binder) checkSum(l, r bound.Expr) {
	either := l.Type().Kinds | r.Type().Kinds
	if either&kList != 0 {
		return
	}
	kinds := kSum
	if either&kString != 0 {
		kinds |= kBool
	}
	b.demand(l, kinds, "+")
	b.demand(r, kinds, "+")
}

// isNull reports whether a value of the type is always null.
func isNull(t bound.Type) bool { return t.Kinds&^bound.Null.Kinds == 0 }

func arithmeticType(l, r bound.Type, kinds bound.Kinds) bound.Type {
	switch {
	case isNull(l) || isNull(r):
		return bound.Null
	case l.Only(kInt) && r.Only(kInt):
		return intType
	case l.Only(kNumber) && r.Only(kNumber):
		if l.Only(kFloat) || r.Only(kFloat) {
			return bound.OneOf(value.KindFloat)
		}
		return bound.OneOf(value.KindInt, value.KindFloat)
	}
	return bound.Type{Kinds: kinds | bound.Null.Kinds}
}

func sumType(l, r bound.Type) bound.Type {
	listL, listR := l.Only(kList), r.Only(kList)
	switch {
	case isNull(l) || isNull(r):
		return bound.Null
	case listL && listR:
		return l.Or(r)
	case listL && r.Kinds&kList == 0:
		return appended(l, r)
	case listR && l.Kinds&kList == 0:
		return appended(r, l)
	case listL || listR:
		return bound.OneOf(value.KindList)
	case (l.Kinds|r.Kinds)&kList != 0:
		return bound.Type{Kinds: kSum | bound.Null.Kinds}
	case l.Only(kString) || r.Only(kString):
		return bound.OneOf(value.KindString)
	}
	return arithmeticType(l, r, kSum&^kList)
}

// appended is the type of a list with one more element.
func appended(list, elem bound.Type) bound.Type {
	if list.Elem == nil {
		return bound.OneOf(value.KindList)
	}
	return bound.ListOf(list.Elem.Or(elem))
}

// elemType is the type of an element taken from a value of type t.
func elemType(t bound.Type) bound.Type {
	if t.Elem == nil {
		return bound.Any
	}
	return *t.Elem
}

// constType is the type of a constant.
func constType(v value.Value) bound.Type {
	return bound.OneOf(v.Kind())
}

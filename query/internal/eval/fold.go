package eval

import "engram/query/internal/bound"

func Fold(e bound.Expr) bound.Expr { return e }

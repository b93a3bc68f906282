package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
)

// push evaluates arguments onto the stack and returns where they start. What it
// pushed is gone after an error; else the caller pops it.
func (e *Env) push(args []Fn, row int) (base int, err error) {
	base = len(e.stack)
	for _, f := range args {
		v, err := f(e, row)
		if err != nil {
			e.pop(base)
			return base, err
		}
		e.stack = append(e.stack, v)
	}
	return base, nil
}

func (e *Env) pop(base int) { e.stack = e.stack[:base] }

func (c *compiler) call(e *bound.Call) Fn {
	f, ok := fn.Lookup(e.Name)
	if !ok {
		return c.fail(fault.Syntax("UnknownFunction", e.At(), "there is no function %s", e.Name))
	}
	if !f.Accepts(len(e.Args)) {
		return c.fail(fault.Syntax("InvalidNumberOfArguments", e.At(), "%s() takes %s, not %d", f.Name, f.Arity(), len(e.Args)))
	}
	args, span := c.exprs(e.Args), e.At()
	if f.Name == "coalesce" {
		return coalesce(args)
	}
	return func(env *Env, row int) (value.Value, error) {
		mark := env.Taken()
		base, err := env.push(args, row)
		if err != nil {
			return value.Null, err
		}
		v, err := invoke(env, f, env.stack[base:])
		env.pop(base)
		if err == nil {
			err = env.Made(v)
		}
		if isScalar(v) {
			env.GiveBack(mark) // the arguments are gone
		}
		return v, at(err, span)
	}
}

// invoke checks the arguments of f and calls it.
func invoke(env *Env, f *fn.Func, args []value.Value) (value.Value, error) {
	if !f.NullAware {
		for i := range args {
			if args[i].IsNull() {
				return value.Null, nil
			}
		}
	}
	if err := f.CheckArgs(args); err != nil {
		return value.Null, err
	}
	return f.Call(&env.Context, args)
}

// coalesce evaluates no further than the first argument that is not null.
func coalesce(args []Fn) Fn {
	return func(env *Env, row int) (value.Value, error) {
		for _, f := range args {
			v, err := f(env, row)
			if err != nil || !v.IsNull() {
				return v, err
			}
		}
		return value.Null, nil
	}
}

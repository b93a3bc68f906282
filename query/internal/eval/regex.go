package eval

import (
	"io"
	"regexp"
	resyntax "regexp/syntax"
	"strings"
	"unicode/utf8"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// pattern is a compiled regular expression or why it is none.
type pattern struct {
	re    *regexp.Regexp
	insts int64 // the size of its program: the work for one byte of text, at most
	err   error
}

// maxMatch bounds the work of one match, which cannot be interrupted: the bytes
// of the text times the instructions of the pattern. It is a few seconds.
const maxMatch = 1 << 28

// stepMatch is how much of that work counts as one step.
const stepMatch = 256

// maxPatternText bounds the text of a pattern, and maxProgram what is made of it:
// compiling cannot be interrupted either.
const (
	maxPatternText = 32 << 10
	maxProgram     = 1 << 17
)

// maxPatterns is how many patterns an execution keeps compiled.
const maxPatterns = 64

func compilePattern(text string, span syntax.Span) *pattern {
	tooLarge := func() *pattern {
		return &pattern{err: fault.New(fault.ResourceExhausted, fault.Runtime, "ResourceExhausted", span,
			"the regular expression is too large: it may have %d bytes, and repeated parts count as often as they may repeat", maxPatternText)}
	}
	if len(text) > maxPatternText {
		return tooLarge()
	}
	if tree, err := resyntax.Parse(text, resyntax.Perl); err == nil && instructions(tree) > maxProgram {
		return tooLarge()
	}
	re, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		// The inner text is compiled for a message without our own anchors.
		if _, inner := regexp.Compile(text); inner != nil {
			err = inner
		}
		return &pattern{err: fault.New(fault.ArgumentError, fault.Runtime, "InvalidArgumentValue", span,
			"'%s' is not a regular expression: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			WithHint("The syntax is RE2's.")}
	}
	return &pattern{re: re, insts: programSize(text)}
}

// programSize is the number of instructions of a valid pattern: x{1000} is
// longer than it looks.
func programSize(text string) int64 {
	tree, err := resyntax.Parse(text, resyntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := resyntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return int64(len(prog.Inst))
}

// instructions estimates the size of a pattern's program before it is made.
func instructions(re *resyntax.Regexp) int64 {
	n := int64(1 + len(re.Rune))
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), maxProgram+1)
	}
	if re.Op == resyntax.OpRepeat {
		n *= int64(max(re.Min, re.Max, 1))
	}
	return min(n, maxProgram+1)
}

// match tells whether all of s matches.
func (p *pattern) match(e *Env, s string, span syntax.Span) (bool, error) {
	if p.err != nil {
		return false, p.err
	}
	work := int64(len(s)) * p.insts
	if work > maxMatch {
		return false, fault.New(fault.ResourceExhausted, fault.Runtime, "ResourceExhausted", span,
			"a text of %d bytes is too long for a regular expression of %d steps a byte", len(s), p.insts)
	}
	if err := e.step(1 + int(work/stepMatch)); err != nil {
		return false, err
	}
	if work <= longMatch {
		return p.re.MatchString(s), nil
	}
	r := &stoppable{s: s, env: e, steps: int(stopEvery*p.insts/stepMatch) + 1}
	ok := p.re.MatchReader(r)
	return ok, r.err
}

// A match of more work than longMatch reads its text through a stoppable, which
// looks every stopEvery characters whether the statement is to end.
const (
	longMatch = 1 << 20
	stopEvery = 1024
)

// stoppable reads a text for a regular expression until Step says stop: then the
// text ends early, and the error says why.
type stoppable struct {
	s     string
	env   *Env
	steps int
	n     int
	err   error
}

// ReadRune implements io.RuneReader.
func (r *stoppable) ReadRune() (rune, int, error) {
	if r.n++; r.n%stopEvery == 0 && r.err == nil {
		r.err = r.env.step(r.steps)
	}
	if r.err != nil || r.s == "" {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(r.s)
	r.s = r.s[size:]
	return c, size, nil
}

// matches compiles s =~ pattern: whether the whole string matches.
func (c *compiler) matches(e *bound.Binary) Fn {
	l, r, span := c.expr(e.L), c.expr(e.R), e.At()
	var fixed *pattern
	if k, ok := e.R.(*bound.Const); ok && k.Value.Kind() == value.KindString {
		fixed = compilePattern(k.Value.AsString(), span)
	}
	return func(env *Env, row int) (value.Value, error) {
		s, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		p, err := r(env, row)
		if err != nil || s.Kind() != value.KindString || p.Kind() != value.KindString {
			return value.Null, err
		}
		re := fixed
		if re == nil {
			re = env.pattern(p.AsString(), span)
		}
		ok, err := re.match(env, s.AsString(), span)
		if err != nil {
			return value.Null, err
		}
		return value.Bool(ok), nil
	}
}

func (e *Env) pattern(text string, span syntax.Span) *pattern {
	if p, ok := e.regex[text]; ok {
		return p
	}
	p := compilePattern(text, span)
	if err := e.step(len(text) + int(p.insts)); err != nil {
		return &pattern{err: err}
	}
	if len(e.regex) >= maxPatterns {
		e.regex = nil
	}
	if e.regex == nil {
		e.regex = map[string]*pattern{}
	}
	e.regex[text] = p
	return p
}

package syntax

import (
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// maxPaths bounds how many paths SHORTEST k asks for.
const maxPaths = 1_000_000

// selectorAhead reports whether words come next that choose among paths.
func (p *parser) selectorAhead() bool {
	t := p.peek()
	if !isWord(t) {
		return false
	}
	next := p.ahead(1)
	switch {
	case is(t, "SHORTEST"):
		return next.Type == tInt || isPunct(next, "(") || ofPaths(next) || ofGroups(next)
	case t.Type == kwAll:
		return is(next, "SHORTEST") || isPunct(next, "(") || ofPaths(next)
	case t.Type == kwAny:
		return is(next, "SHORTEST") || isPunct(next, "(") || next.Type == tInt || ofPaths(next)
	}
	return false
}

func ofPaths(t *lexer.Token) bool  { return is(t, "PATH") || is(t, "PATHS") }
func ofGroups(t *lexer.Token) bool { return is(t, "GROUP") || is(t, "GROUPS") }

// selected parses what GQL puts before a path to choose among those between the
// same ends, and the path: ALL, ANY [k], ALL SHORTEST, ANY SHORTEST, SHORTEST [k]
// and SHORTEST [k] GROUPS, each but the last with PATH or PATHS behind it, too.
func (p *parser) selected() (*Pattern, error) {
	t := p.take()
	kind, count := ShortestPath, int64(1)
	switch shortest := is(p.peek(), "SHORTEST"); {
	case t.Type == kwAll && shortest:
		kind = AllShortestPaths
		p.take()
	case t.Type == kwAll:
		kind = NotShortest
	case shortest:
		p.take()
	default:
		var err error
		if count, err = p.pathCount(); err != nil {
			return nil, err
		}
	}
	if ofPaths(p.peek()) {
		p.take()
	}
	if is(t, "SHORTEST") && ofGroups(p.peek()) {
		p.take()
		kind = AllShortestPaths
	}
	pattern, err := p.path()
	if err != nil || kind == NotShortest {
		return pattern, err
	}
	pattern.Shortest, pattern.Count = kind, count
	pattern.Span = p.since(span(t))
	return pattern, nil
}

// pathCount takes how many paths, or groups of them, are asked for; one if that
// was left out.
func (p *parser) pathCount() (int64, error) {
	t := p.peek()
	if t.Type != tInt {
		return 1, nil
	}
	p.take()
	v, err := number(t, false)
	if err != nil {
		return 0, err
	}
	n := v.AsInt()
	if n < 1 || n > maxPaths {
		return 0, fault.Syntax("NegativeIntegerArgument", span(t), "from 1 to %d paths can be asked for, not %d", maxPaths, n)
	}
	return n, nil
}

package fault

import "unicode/utf8"

// Pos is a place in the statement as typed.
type Pos struct {
	Offset int // bytes from the start
	Line   int // from 1; 0: the place is not known
	Column int // from 1, in characters
}

// Span is a part of the statement: [Start, End) in bytes, with Start's place.
type Span struct {
	Pos
	End int
}

// At returns the span itself, so that embedding a Span makes a node of a tree.
func (s Span) At() Span { return s }

// Known reports whether the span points anywhere.
func (s Span) Known() bool { return s.Line > 0 }

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span {
	s.End = t.End
	return s
}

// Text returns the spanned part of the statement, or "" when the span does not
// lie within it.
func (s Span) Text(statement string) string {
	if s.Offset < 0 || s.End < s.Offset || s.End > len(statement) {
		return ""
	}
	return statement[s.Offset:s.End]
}

// lineAround returns the line that contains offset, without its line ending,
// and the number of characters before offset on it.
func lineAround(statement string, offset int) (line string, before int) {
	if offset > len(statement) {
		offset = len(statement)
	}
	start := offset
	for start > 0 && statement[start-1] != '\n' {
		start--
	}
	end := offset
	for end < len(statement) && statement[end] != '\n' && statement[end] != '\r' {
		end++
	}
	return statement[start:end], utf8.RuneCountInString(statement[start:offset])
}

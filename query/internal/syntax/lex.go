package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

const (
	// MaxText is the longest statement that is parsed, in bytes.
	MaxText = 1 << 20
	// MaxDepth is how deep brackets, CASE and prefix operators may nest.
	MaxDepth = 200
)

// scanner cuts a statement into tokens.
type scanner struct {
	text   string
	off    int // of the next byte
	line   int
	col    int
	tokens []lexer.Token
	open   []int // indexes of the brackets that are open
	run    int   // prefix operators and CASEs that follow each other up to here
}

// tokenize cuts text into tokens, the last of which is EOF. Malformed tokens
// are returned as tBad, to be reported if the parser gets that far; an error is
// returned only for text that is not worth parsing.
func tokenize(text string) ([]lexer.Token, error) {
	if len(text) > MaxText {
		return nil, fault.New(fault.ResourceExhausted, fault.CompileTime, "StatementTooLong", Span{},
			"the statement has %d bytes, more than the limit of %d", len(text), MaxText).
			WithHint("Pass large values as parameters.")
	}
	s := &scanner{text: text, line: 1, col: 1, tokens: make([]lexer.Token, 0, len(text)/4+8)}
	if n := validLen(text); n < len(text) {
		s.advance(n)
		return nil, fault.Syntax("InvalidUnicodeCharacter", spanAt(s.at(), 1), "the statement is not valid UTF-8 here")
	}
	for {
		s.skipSpace()
		if s.off >= len(s.text) {
			break
		}
		if err := s.next(); err != nil {
			return nil, err
		}
		if err := s.countRun(); err != nil {
			return nil, err
		}
	}
	s.tokens = append(s.tokens, lexer.EOFToken(s.at()))
	return s.tokens, nil
}

// countRun refuses a run of words and signs that only nest, before more tokens
// are made of it.
func (s *scanner) countRun() error {
	t := &s.tokens[len(s.tokens)-1]
	if t.Type != kwNot && t.Type != kwCase && !isPunct(t, "-") && !isPunct(t, "+") && !isPunct(t, "!") {
		s.run = 0
		return nil
	}
	s.run++
	if s.run > MaxDepth {
		return tooDeep(span(t))
	}
	return nil
}

// validLen returns how many bytes of text are valid UTF-8.
func validLen(text string) int {
	if utf8.ValidString(text) {
		return len(text)
	}
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
			return i
		}
	}
	return len(text)
}

// at returns the current place.
func (s *scanner) at() lexer.Position {
	return lexer.Position{Filename: s.text, Offset: s.off, Line: s.line, Column: s.col}
}

// emit makes a token of the next n bytes and moves behind it.
func (s *scanner) emit(t lexer.TokenType, n int) {
	tok := lexer.Token{Type: t, Value: s.text[s.off : s.off+n], Pos: s.at()}
	s.tokens = append(s.tokens, tok)
	s.advance(n)
}

// advance moves n bytes forward, counting lines and characters.
func (s *scanner) advance(n int) {
	for _, r := range s.text[s.off : s.off+n] {
		if r == '\n' {
			s.line++
			s.col = 1
		} else {
			s.col++
		}
	}
	s.off += n
}

// skipSpace skips white space and comments. An unfinished comment becomes a tBad.
func (s *scanner) skipSpace() {
	for s.off < len(s.text) {
		c := s.text[s.off]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			s.off++
			s.col++
		case c == '\n':
			s.advance(1)
		case c == '/' && s.peek(1) == '/':
			s.advance(s.find(2, "\n"))
		case c == '/' && s.peek(1) == '*':
			n := s.find(2, "*/")
			if s.off+n == len(s.text) {
				s.emit(tBad, n)
				return
			}
			s.advance(n + 2)
		case c < utf8.RuneSelf:
			if c != '\f' && c != '\v' && (c < 0x1c || c > 0x1f) {
				return
			}
			s.advance(1)
		default:
			r, n := utf8.DecodeRuneInString(s.text[s.off:])
			if !unicode.IsSpace(r) && r != '\uFEFF' {
				return
			}
			s.advance(n)
		}
	}
}

// peek returns the byte n further on, or 0 behind the end.
func (s *scanner) peek(n int) byte {
	if s.off+n < len(s.text) {
		return s.text[s.off+n]
	}
	return 0
}

// find returns how many bytes from here, at least from, precede the next
// occurrence of stop, or the end of the text.
func (s *scanner) find(from int, stop string) int {
	for i := s.off + from; i+len(stop) <= len(s.text); i++ {
		if s.text[i:i+len(stop)] == stop {
			return i - s.off
		}
	}
	return len(s.text) - s.off
}

// next scans one token; there is one.
func (s *scanner) next() error {
	c := s.text[s.off]
	switch {
	case isWordStart(c):
		s.word()
	case '0' <= c && c <= '9' || c == '.' && isDigit(s.peek(1)) && !s.afterName():
		n, t := scanNumber(s.text[s.off:])
		s.emit(t, n)
	case c == '\'' || c == '"':
		s.quoted(c)
	case c == '`':
		s.emit(s.backticked(0, tQuoted))
	case c == '$' && strings.HasPrefix(strings.TrimLeft(s.text[s.off+1:], " \t\r\n"), "("):
		s.emit(tPunct, 1)
	case c == '$':
		s.param()
	case c == '(' || c == '[' || c == '{':
		return s.openBracket()
	case c == ')' || c == ']' || c == '}':
		s.closeBracket(c)
	case c < utf8.RuneSelf:
		s.punct()
	default:
		r, n := utf8.DecodeRuneInString(s.text[s.off:])
		if unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Pc, r) {
			s.word()
			return nil
		}
		s.emit(tBad, n)
	}
	return nil
}

// afterName reports whether the token just before is a name or a closing
// bracket without space between, so that a dot continues it: n.5 is a mistake,
// not n and .5.
func (s *scanner) afterName() bool {
	if len(s.tokens) == 0 {
		return false
	}
	t := &s.tokens[len(s.tokens)-1]
	return end(t) == s.off && (isName(t) || isPunct(t, ".") || isPunct(t, ")") || isPunct(t, "]"))
}

// word scans an unquoted word.
func (s *scanner) word() {
	n := wordLen(s.text[s.off:])
	text := s.text[s.off : s.off+n]
	tok := lexer.Token{Type: wordType(text), Value: text, Pos: s.at()}
	s.tokens = append(s.tokens, tok)
	s.advance(n)
}

// wordLen returns the length of the letters, digits and marks at the start of
// text.
func wordLen(text string) int {
	for i, r := range text {
		if r < utf8.RuneSelf {
			if !isWordStart(byte(r)) && !isDigit(byte(r)) {
				return i
			}
		} else if !unicode.In(r, unicode.L, unicode.Nd, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Pc) {
			return i
		}
	}
	return len(text)
}

// quoted scans a string.
func (s *scanner) quoted(quote byte) {
	for i := s.off + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case quote:
			s.emit(tString, i+1-s.off)
			return
		}
	}
	s.emit(tBad, len(s.text)-s.off)
}

// backticked returns the length and type of a backticked name that starts skip
// bytes from here: t, or tBad when it does not end or is empty.
func (s *scanner) backticked(skip int, t lexer.TokenType) (lexer.TokenType, int) {
	for i := s.off + skip + 1; i < len(s.text); i++ {
		if s.text[i] != '`' {
			continue
		}
		if i+1 < len(s.text) && s.text[i+1] == '`' {
			i++
			continue
		}
		if i == s.off+skip+1 {
			t = tBad
		}
		return t, i + 1 - s.off
	}
	return tBad, len(s.text) - s.off
}

// param scans $name, $0 or $`name`.
func (s *scanner) param() {
	if s.peek(1) == '`' {
		s.emit(s.backticked(1, tParam))
		return
	}
	n := wordLen(s.text[s.off+1:])
	if n == 0 {
		s.emit(tBad, 1)
		return
	}
	s.emit(tParam, n+1)
}

// openBracket scans an opening bracket.
func (s *scanner) openBracket() error {
	if len(s.open) >= MaxDepth {
		return tooDeep(spanAt(s.at(), 1))
	}
	s.open = append(s.open, len(s.tokens))
	s.emit(tOpen, 1)
	return nil
}

// closeBracket scans a closing bracket and tells its partner where it is.
func (s *scanner) closeBracket(c byte) {
	if n := len(s.open); n > 0 {
		from := &s.tokens[s.open[n-1]]
		if partner(from.Value[0]) == c {
			from.Type += lexer.TokenType(len(s.tokens) - s.open[n-1])
			s.open = s.open[:n-1]
		}
	}
	s.emit(tPunct, 1)
}

// partner returns the bracket that closes c.
func partner(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// punct scans an operator or separator.
func (s *scanner) punct() {
	c, d := s.text[s.off], s.peek(1)
	switch {
	case c == '<' && (d == '=' || d == '>'),
		c == '>' && d == '=',
		c == '=' && (d == '~' || d == '='),
		c == '!' && d == '=',
		c == '+' && d == '=',
		c == '|' && d == '|',
		c == '.' && d == '.':
		s.emit(tPunct, 2)
	case punctuation[c]:
		s.emit(tPunct, 1)
	default:
		s.emit(tBad, 1)
	}
}

// punctuation holds the ASCII characters that are tokens by themselves.
var punctuation = func() (set [utf8.RuneSelf]bool) {
	for _, c := range []byte("<>=!+-*/%^.,:;|&") {
		set[c] = true
	}
	return set
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

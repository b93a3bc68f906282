package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"engram/graph/value"
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// scanNumber returns the length and type of the number at the start of text,
// which begins with a digit or with a dot and a digit. Letters that follow belong
// to it and make it a tBad.
func scanNumber(text string) (int, lexer.TokenType) {
	i, t := 0, tInt
	digits := func(ok func(byte) bool) (n int) {
		for i < len(text) && ok(text[i]) {
			i++
			n++
		}
		return n
	}
	if len(text) > 1 && text[0] == '0' && (text[1]|0x20 == 'x' || text[1]|0x20 == 'o') {
		ok := isHex
		if text[1]|0x20 == 'o' {
			ok = isOctal
		}
		i = 2
		if digits(ok) == 0 {
			t = tBad
		}
	} else {
		digits(isDigit)
		if i+1 < len(text) && text[i] == '.' && isDigit(text[i+1]) {
			i++
			digits(isDigit)
			t = tFloat
		}
		if i < len(text) && text[i]|0x20 == 'e' {
			i++
			if i < len(text) && (text[i] == '+' || text[i] == '-') {
				i++
			}
			t = tFloat
			if digits(isDigit) == 0 {
				t = tBad
			}
		}
		if t == tInt && i > 1 && text[0] == '0' {
			t = tBad // neither decimal nor octal for certain
		}
	}
	if n := wordLen(text[i:]); n > 0 {
		return i + n, tBad
	}
	return i, t
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }

// number returns the value of a tInt or tFloat, negated if negative is set: only
// then is the magnitude of the smallest integer in range.
func number(t *lexer.Token, negative bool) (value.Value, error) {
	if t.Type == tFloat {
		f, err := strconv.ParseFloat(t.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			return value.Null, fault.Syntax("FloatingPointOverflow", span(t),
				"%s is outside the range of a floating point number", t.Value)
		}
		if negative {
			f = -f
		}
		return value.Float(f), nil
	}
	digits, base := t.Value, 10
	if len(digits) > 2 && !isDigit(digits[1]) {
		base = 16
		if digits[1]|0x20 == 'o' {
			base = 8
		}
		digits = digits[2:]
	}
	u, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) || u > 1<<63 || u == 1<<63 && !negative {
		sign := ""
		if negative {
			sign = "-"
		}
		return value.Null, fault.Syntax("IntegerOverflow", span(t),
			"%s%s is outside the range of an integer, -2^63 to 2^63-1", sign, t.Value)
	}
	if negative {
		u = -u
	}
	return value.Int(int64(u)), nil
}

// stringValue returns the string that a tString stands for.
func stringValue(t *lexer.Token) (string, error) {
	raw := t.Value[1 : len(t.Value)-1]
	if strings.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			i++
			continue
		}
		n, r, detail := escape(raw[i:])
		if detail != "" {
			return "", escapeError(t, i+1, n, detail)
		}
		b.WriteRune(r)
		i += n
	}
	return b.String(), nil
}

// escape decodes the escape sequence at the start of s, which begins with a
// backslash and has at least one more byte. It returns its length, the character
// and, if it is malformed, the detail of the error.
func escape(s string) (n int, r rune, detail string) {
	switch s[1] {
	case '\\', '\'', '"', '`':
		return 2, rune(s[1]), ""
	case 'b':
		return 2, '\b', ""
	case 'f':
		return 2, '\f', ""
	case 'n':
		return 2, '\n', ""
	case 'r':
		return 2, '\r', ""
	case 't':
		return 2, '\t', ""
	case 'u', 'U':
		n = 6
		if s[1] == 'U' {
			n = 10
		}
		r, ok := hexRune(s, n)
		if !ok {
			return min(n, len(s)), 0, "InvalidUnicodeLiteral"
		}
		if utf16.IsSurrogate(r) {
			if n == 6 && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
				low, ok := hexRune(s[6:], 6)
				if c := utf16.DecodeRune(r, low); ok && c != utf8.RuneError {
					return 12, c, ""
				}
			}
			return n, 0, "InvalidUnicodeLiteral"
		}
		if !utf8.ValidRune(r) {
			return n, 0, "InvalidUnicodeLiteral"
		}
		return n, r, ""
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return 1 + size, 0, "UnexpectedSyntax"
}

// hexRune reads the hexadecimal digits of s[2:n].
func hexRune(s string, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	u, err := strconv.ParseUint(s[2:n], 16, 32)
	if err != nil || s[2] == '+' || u > math.MaxInt32 {
		return 0, false
	}
	return rune(u), true
}

// escapeError reports the n bytes at offset from of a string token.
func escapeError(t *lexer.Token, from, n int, detail string) error {
	p := t.Pos
	p.Advance(t.Value[:from])
	at := spanAt(p, n)
	seq := t.Value[from : from+n]
	if detail == "InvalidUnicodeLiteral" {
		return fault.Syntax(detail, at, "%s is not a Unicode character", seq).
			WithHint(`Write \u and four, or \U and eight hexadecimal digits of a character.`)
	}
	return fault.Syntax(detail, at, "%s is not an escape sequence", seq).
		WithHint(`The sequences are \\ \' \" \b \f \n \r \t \uXXXX \UXXXXXXXX; write \\ for a backslash.`)
}

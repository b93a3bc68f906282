package query

import "strings"

// Split cuts a script at its semicolons into statements, without those in
// strings, backticked names and comments. rest is what stands behind the last
// semicolon: an unfinished statement, blanks or comments.
func Split(script string) (statements []string, rest string) {
	start := 0
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = skipQuoted(script, i)
		case strings.HasPrefix(script[i:], "//"):
			i = skipTo(script, i, "\n")
		case strings.HasPrefix(script[i:], "/*"):
			i = skipTo(script, i+2, "*/")
		case c == ';':
			if s := strings.TrimSpace(script[start:i]); s != "" {
				statements = append(statements, s)
			}
			i++
			start = i
		default:
			i++
		}
	}
	return statements, script[start:]
}

// skipQuoted returns the place behind the quoted text that begins at i.
func skipQuoted(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func skipTo(s string, i int, end string) int {
	if n := strings.Index(s[i:], end); n >= 0 {
		return i + n + len(end)
	}
	return len(s)
}

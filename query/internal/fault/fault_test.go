package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	long := strings.Repeat("x", 300)
	cases := []struct {
		name, text string
		err        *Error
		want       string
	}{
		{"caret", "MATCH (n)\r\nRETRUN n", &Error{
			Type: SyntaxError, Detail: "UnexpectedSyntax", Message: "RETRUN does not start a clause",
			Span:     Span{Pos{11, 2, 1}, 17},
			Expected: []string{"a clause"}, Hint: "Did you mean RETURN?",
		}, `SyntaxError (UnexpectedSyntax) at line 2, column 1: RETRUN does not start a clause
  RETRUN n
  ^^^^^^
expected a clause
Did you mean RETURN?
`},
		{"end of text", "RETURN", &Error{
			Type: SyntaxError, Message: "the statement ends here",
			Span: Span{Pos{6, 1, 7}, 6}, Expected: []string{"DISTINCT", "*", "an expression"},
		}, `SyntaxError at line 1, column 7: the statement ends here
  RETURN
        ^
expected DISTINCT, '*' or an expression
`},
		{"characters, not bytes", "RETURN 'äö' ?", &Error{
			Type: SyntaxError, Message: "m", Span: Span{Pos{14, 1, 13}, 15},
		}, "SyntaxError at line 1, column 13: m\n  RETURN 'äö' ?\n              ^\n"},
		{"no place", "", AtRuntime(ArithmeticError, "", "division by zero"), "ArithmeticError: division by zero\n"},
		{"long line", long + "?" + long, &Error{
			Type: SyntaxError, Message: "m", Span: Span{Pos{300, 1, 301}, 301},
		}, "SyntaxError at line 1, column 301: m\n  ..." + strings.Repeat("x", 50) + "?" + strings.Repeat("x", 49) +
			"...\n  " + strings.Repeat(" ", 53) + "^\n"},
		{"span outside the text", "ab", &Error{
			Type: SyntaxError, Message: "m", Span: Span{Pos{90, 1, 91}, 95},
		}, "SyntaxError at line 1, column 91: m\n  ab\n    ^\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Render(c.text); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestErrorIsOneLine(t *testing.T) {
	e := Syntax("UndefinedVariable", Span{Pos{7, 1, 8}, 8}, "variable %s is not defined", "m").WithHint("Did you mean n?")
	want := "SyntaxError (UndefinedVariable) at line 1, column 8: variable m is not defined. Did you mean n?"
	if got := e.Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := As(fmt.Errorf("query: %w", e)); got != e {
		t.Errorf("As found %v", got)
	}
	if As(errors.New("other")) != nil {
		t.Error("As found an error that is not there")
	}
	cause := errors.New("disk")
	if !errors.Is(AtRuntime(ProcedureError, "", "failed").Wrap(cause), cause) {
		t.Error("the cause is lost")
	}
}

func TestNearest(t *testing.T) {
	words := []string{"MATCH", "MERGE", "RECALL", "REMEMBER", "RETURN", "CREATE", "SET"}
	for in, want := range map[string]string{
		"RECAL": "RECALL", "retrun": "RETURN", "MTACH": "MATCH", "REMEBMER": "REMEMBER", "ST": "", "SETT": "SET",
		"banana": "", "creat": "CREATE", "MATCH": "", "x": "",
	} {
		if got := Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

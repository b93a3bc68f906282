package termtext

import (
	"strings"
	"testing"
)

func shown(t *testing.T, pieces ...string) string {
	t.Helper()
	var out strings.Builder
	w := New(&out, func(s string) string { return strings.ReplaceAll(s, "\x1b", "?") })
	for _, p := range pieces {
		if err := w.WriteString(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestShow(t *testing.T) {
	for _, c := range []struct{ markdown, want string }{
		{"plain", "plain\n"},
		{"one\ntwo  \nthree", "one\ntwo\nthree\n"},
		{"# Head *it*\n\nx", "\x1b[1m\x1b[4mHead \x1b[3mit\x1b[0m\x1b[0m\n\nx\n"},
		{"a **b** `c*d*` \\*e\\* &amp; &#27;[31m <b>", "a \x1b[1mb\x1b[0m \x1b[36mc*d*\x1b[0m *e* & ?[31m <b>\n"},
		{"- a\n- b\n  1. c\n  2. d\n", "• a\n• b\n  1. c\n  2. d\n"},
		{"3) x\n\n4) y\n", "3) x\n\n4) y\n"},
		{"> q\n> r", "\x1b[2m│\x1b[0m q\n\x1b[2m│\x1b[0m r\n"},
		{"```go\nif x {\n\n\ty()\n}\n```\nafter", "    \x1b[36mif x {\x1b[0m\n    \x1b[36m\x1b[0m\n    \x1b[36m\ty()\x1b[0m\n    \x1b[36m}\x1b[0m\n\nafter\n"},
		{"[click](https://evil.example/) <https://a.example>", "\x1b[4mclick\x1b[0m (https://evil.example/) \x1b[4mhttps://a.example\x1b[0m\n"},
		{"a\n\n---\n\nb", "a\n\n" + strings.Repeat("─", 40) + "\n\nb\n"},
		{"<div>\nraw & all\n</div>", "    \x1b[36m<div>\x1b[0m\n    \x1b[36mraw & all\x1b[0m\n    \x1b[36m</div>\x1b[0m\n"},
	} {
		if got := shown(t, c.markdown); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.markdown, got, c.want)
		}
		if got := shown(t, strings.Split(c.markdown, "")...); got != c.want {
			t.Errorf("%q a character at a time:\n%q, want\n%q", c.markdown, got, c.want)
		}
	}
}

// TestShowsWhatHasEnded holds that a block is shown as soon as it has ended, and that
// one without an end is shown too.
func TestShowsWhatHasEnded(t *testing.T) {
	var out strings.Builder
	w := New(&out, func(s string) string { return s })
	for _, step := range []struct{ piece, want string }{
		{"first", ""}, {" line\n", ""}, {"\n", "first line\n"}, {"```\ncode\n\n", "first line\n"}, {"more\n```\n\n", "first line\n\n    \x1b[36mcode\x1b[0m\n    \x1b[36m\x1b[0m\n    \x1b[36mmore\x1b[0m\n"},
	} {
		if err := w.WriteString(step.piece); err != nil || out.String() != step.want {
			t.Errorf("after %q: %q, %v", step.piece, out.String(), err)
		}
	}
	out.Reset()
	long := strings.Repeat("word\n", maxBlock/5+1)
	if err := w.WriteString(long); err != nil || len(out.String()) < maxBlock {
		t.Errorf("a long block: %d bytes, %v", out.Len(), err)
	}
}

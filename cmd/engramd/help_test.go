package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args  string
		code  int
		says  string // in the output, or in the error when the code is not 0
		never string
	}{
		{"help", exitOK, "# EQL\n", ""},
		{"help eql", exitOK, "`functions-aggregate`", ""},
		{"help eql toupper", exitOK, "RETURN toUpper('Ada')", "toLower"},
		{"help eql order by", exitOK, "## ORDER BY", "## UNION"},
		{"help eql NothingToSearch", exitOK, "RECALL", ""},
		{"help eql mrege", exitUsage, "did you mean MERGE?", ""},
		{"help eql quantum chromodynamics", exitUsage, "its pages are overview, syntax", ""},
		{"help sql", exitUsage, "eql", ""},
	} {
		var out, errOut bytes.Buffer
		code := run(context.Background(), strings.Fields(c.args), strings.NewReader(""), &out, &errOut)
		text := out.String()
		if code != exitOK {
			text = errOut.String()
		}
		if code != c.code || !strings.Contains(text, c.says) || c.never != "" && strings.Contains(text, c.never) {
			t.Errorf("engramd %s: exit %d\n%s", c.args, code, text)
		}
	}
}

func TestNoticesArePrinted(t *testing.T) {
	t.Setenv("ENGRAM_HOME", t.TempDir()+"/data")
	script := "CREATE (:Person {name: 'Ada'});\nMATCH (n:Persn) RETURN n.name;\n"
	var out, errOut bytes.Buffer
	if code := run(context.Background(), []string{"console"}, strings.NewReader(script), &out, &errOut); code != exitOK {
		t.Fatalf("exit %d: %s", code, &errOut)
	}
	const want = "note: No node has ever had the label `Persn`. Did you mean `Person`? (line 1, column 10)\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed\n%s", &out)
	}
}

package tck

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// renamedStatement is the only statement of a scenario in other words, and the
// result it should have.
func renamedStatement(t *testing.T, statement string, table ...[]string) (string, [][]string) {
	t.Helper()
	s := &Scenario{Steps: []Step{
		{Text: "an empty graph"},
		{Text: "executing query:", Doc: statement},
		{Text: "the result should be, in order:", Table: table},
		{Text: "the side effects should be:", Table: [][]string{{"+nodes", "1"}}},
	}}
	out, _, err := Renamed(s, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Steps[3], out.Steps[3]); diff != "" {
		t.Errorf("side effects have no names:\n%s", diff)
	}
	return out.Steps[1].Doc, out.Steps[2].Table
}

func TestRenamed(t *testing.T) {
	for _, c := range []struct {
		name, statement, want string
		table, wantTable      [][]string
	}{
		{
			"names, texts and integers",
			"MATCH (n:A {k: 'x'})-[:T]->(`m`) WHERE m.k < 5 RETURN n.k, keys(n) AS ks",
			"MATCH (wbagone:wbagave {wbageza: 'wbagubo'})-[:wbagelo]->(`wbagizu`) WHERE wbagizu.wbageza < 22 RETURN wbagone.wbageza, keys(wbagone) AS wbagimi",
			[][]string{{"n.k", "ks"}, {"'x'", "['k']"}},
			[][]string{{"wbagone.wbageza", "wbagimi"}, {"'wbagubo'", "['wbageza']"}},
		},
		{
			"integers that are counted stay",
			"MATCH (n {k: 5}) RETURN count(*) AS c",
			"MATCH (wbageza {wbagelo: 5}) RETURN count(*) AS wbagave",
			[][]string{{"c"}, {"2"}},
			[][]string{{"wbagave"}, {"2"}},
		},
		{
			"texts that are looked into stay, and names they speak of",
			"MATCH (n {key: 'x', other: 'keys'}) WHERE n['k' + 'ey'] STARTS WITH 'x' RETURN n.key, n.more",
			"MATCH (wbagelo {key: 'x', wbageza: 'keys'}) WHERE wbagelo['k' + 'ey'] STARTS WITH 'x' RETURN wbagelo.key, wbagelo.wbagave",
			[][]string{{"n.key", "n.more"}, {"'x'", "null"}},
			[][]string{{"wbagelo.key", "wbagelo.wbagave"}, {"'x'", "null"}},
		},
		{
			"components of temporal values stay",
			"WITH date({year: 1984, month: 1}) AS d RETURN d.year AS y",
			"WITH date({year: 1984, month: 1}) AS wbagave RETURN wbagave.year AS wbagelo",
			[][]string{{"y"}, {"1984"}},
			[][]string{{"wbagelo"}, {"1984"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, table := renamedStatement(t, c.statement, c.table...)
			if text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
			if diff := cmp.Diff(c.wantTable, table); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package tck

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Renamed returns a scenario that means what s means in other words, and how many
// tokens of it changed. Labels, types, property keys, variables, parameters and
// columns get other names; where nothing looks into them, texts and integers get
// other values as well. Graphs is the folder of the named graphs, whose scripts
// are renamed with the scenario.
//
// A spelling has one new spelling throughout the scenario, whatever it stands
// for, so that `keys(n)`, `n['name']` and implicit column names stay true. New
// spellings sort like the old ones, so that orders and extremes stay as they are.
// What the language knows keeps its name: keywords, functions, components of
// temporal values. Texts are left alone where a function or an operator could look
// into them, integers where anything could compute with them.
func Renamed(s *Scenario, graphs string) (Scenario, int, error) {
	out := Scenario{Path: s.Path, Name: s.Name, Row: s.Row}
	for _, step := range s.Steps {
		if m := namedGraph.FindStringSubmatch(step.Text); m != nil {
			text, err := os.ReadFile(filepath.Join(graphs, m[1], m[1]+".cypher"))
			if err != nil {
				return out, 0, err
			}
			step = Step{Text: "having executed:", Doc: string(text)}
		}
		out.Steps = append(out.Steps, step)
	}
	r := newRenamer(out.Steps)
	for i := range out.Steps {
		out.Steps[i] = r.step(out.Steps[i])
	}
	return out, r.changed, nil
}

var namedGraph = regexp.MustCompile(`^the (binary-tree-\d) graph$`)

// renamer is the new spelling of one scenario.
type renamer struct {
	words   map[string]string // of names and of texts
	texts   bool              // texts change
	numbers bool              // integers change
	changed int
}

// newRenamer reads a scenario and chooses the new spellings.
func newRenamer(steps []Step) *renamer {
	r := &renamer{words: map[string]string{}, texts: true, numbers: true}
	names, quoted := map[string]bool{}, map[string]bool{}
	for _, step := range steps {
		for _, text := range spoken(step) {
			tokens := pieces(text)
			for i, p := range tokens {
				switch p.kind {
				case aWord:
					if !kept(tokens, i) {
						names[p.name()] = true
					}
				case aText:
					quoted[p.inner()] = true
				}
			}
			r.inspect(tokens)
		}
		if procedure, ok := strings.CutPrefix(step.Text, "there exists a procedure "); ok {
			r.texts, r.numbers = false, false // its table says what they stand for
			for _, f := range signatureNames(procedure) {
				names[f] = true
			}
		}
	}
	var list []string
	for n := range names {
		if r.texts || !related(n, quoted) {
			list = append(list, n)
		}
	}
	if r.texts {
		for q := range quoted {
			if !names[q] && !ours(q) {
				list = append(list, q)
			}
		}
	}
	slices.Sort(list)
	for i, w := range list {
		r.words[w] = spelling(i)
	}
	return r
}

// related reports whether a name could come out of one of the texts, or a text out
// of it.
func related(name string, texts map[string]bool) bool {
	for t := range texts {
		if strings.Contains(t, name) || t != "" && strings.Contains(name, t) {
			return true
		}
	}
	return false
}

// spelling is the new word number n; greater numbers sort behind lesser ones.
func spelling(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	syllable := func(n int) string {
		return string(consonants[n/len(vowels)%len(consonants)]) + string(vowels[n%len(vowels)])
	}
	n = 37*n + 1111 // so that neighbours look different
	all := len(consonants) * len(vowels)
	return "w" + syllable(n/all/all) + syllable(n/all) + syllable(n)
}

// spoken lists the parts of a step that are written in the language: statements,
// names of parameters and columns, values.
func spoken(step Step) []string {
	if strings.Contains(step.Text, "side effects") {
		return nil
	}
	list := []string{step.Doc}
	for _, row := range step.Table {
		for _, cell := range row {
			if strings.HasPrefix(step.Text, "parameters") && cell == row[0] {
				cell = "$" + cell
			}
			list = append(list, cell)
		}
	}
	return list
}

// step writes a step anew.
func (r *renamer) step(s Step) Step {
	if strings.Contains(s.Text, "side effects") {
		return s
	}
	out := Step{Text: s.Text, Doc: r.text(s.Doc)}
	if procedure, ok := strings.CutPrefix(s.Text, "there exists a procedure "); ok {
		for _, f := range signatureNames(procedure) {
			field := regexp.MustCompile(`\b` + regexp.QuoteMeta(f) + ` ::`)
			out.Text = field.ReplaceAllString(out.Text, r.word(f)+" ::")
		}
	}
	if s.Table == nil {
		return out
	}
	out.Table = [][]string{}
	for _, row := range s.Table {
		var cells []string
		for i, cell := range row {
			if i == 0 && strings.HasPrefix(s.Text, "parameters") {
				cells = append(cells, r.word(cell))
				continue
			}
			cells = append(cells, r.text(cell))
		}
		out.Table = append(out.Table, cells)
	}
	return out
}

func (r *renamer) word(w string) string {
	if other, ok := r.words[w]; ok {
		r.changed++
		return other
	}
	return w
}

// text writes a statement or a value anew.
func (r *renamer) text(text string) string {
	var b strings.Builder
	tokens := pieces(text)
	for i, p := range tokens {
		switch {
		case p.kind == aWord && !kept(tokens, i):
			quote := p.text[:len(p.text)-len(strings.TrimPrefix(p.text, "`"))]
			b.WriteString(quote + r.word(p.name()) + quote)
		case p.kind == aText:
			b.WriteString(p.text[:1] + r.word(p.inner()) + p.text[:1])
		case p.kind == aNumber && r.numbers:
			b.WriteString(otherNumber(p.text))
			r.changed++
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// otherNumber is 3n + 7: equal for equal numbers, in the same order for others.
func otherNumber(text string) string {
	n, err := strconv.Atoi(text)
	if err != nil {
		return text
	}
	return strconv.Itoa(3*n + 7)
}

// inspect forbids to change texts or integers that these tokens may look into.
func (r *renamer) inspect(tokens []piece) {
	for i, p := range tokens {
		next := following(tokens, i)
		switch p.kind {
		case aWord:
			w := strings.ToLower(p.text)
			if next == "(" && !blind[w] && !keyword(w) || looking[w] {
				r.texts, r.numbers = false, false
			}
			if next == "(" && counting[w] || measuring[w] {
				r.numbers = false
			}
		case aText:
			if strings.ContainsAny(p.inner(), `\'"`) {
				r.texts = false
			}
		case aNumber:
			if !plainInteger.MatchString(p.text) {
				r.numbers = false
			}
		case anOperator:
			r.inspectOperator(p.text, preceding(tokens, i), next)
		}
	}
}

func (r *renamer) inspectOperator(op, before, next string) {
	switch {
	case strings.Contains("+/%^~", op):
		r.texts, r.numbers = false, false
	case op == "*", op == "-" && next != "[" && next != "-" && next != ">":
		r.numbers = false
	case op == "[" && before != "" && strings.Contains(wordEnds, before[len(before)-1:]):
		r.numbers = false // an index, or a keyword before a list
	}
}

var plainInteger = regexp.MustCompile(`^(0|[1-9]\d{0,8})$`)

// kept reports whether the word tokens[i] belongs to the language.
func kept(tokens []piece, i int) bool {
	if ours(tokens[i].name()) {
		return true
	}
	// A function or procedure: the words and dots up to a bracket, or behind CALL.
	for j := i; j >= 0 && (tokens[j].kind == aWord || tokens[j].text == "."); j-- {
		if prev := preceding(tokens, j); strings.EqualFold(prev, "CALL") {
			return true
		}
	}
	for j := i; j < len(tokens) && (tokens[j].kind == aWord || tokens[j].text == "."); j++ {
		if tokens[j].kind == aWord && following(tokens, j) == "(" && j+1 < len(tokens) && tokens[j+1].text == "(" {
			return true
		}
	}
	return false
}

var signatureField = regexp.MustCompile(`(\w+) ::`)

// signatureNames lists the names of arguments and results of a procedure.
func signatureNames(signature string) []string {
	var names []string
	for _, m := range signatureField.FindAllStringSubmatch(signature, -1) {
		names = append(names, m[1])
	}
	return names
}

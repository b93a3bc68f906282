package text

import (
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/stop"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"golang.org/x/text/unicode/norm"

	"engram/graph/value"
)

// analyzerVersion changes whenever the same text would give other terms; an
// index written by another version is rebuilt.
const analyzerVersion = 2

// Kind says how the text of a field becomes terms. Documents and queries pass
// through the same steps.
type Kind uint8

const (
	// English: composed (NFC), folded to ASCII where that exists, words of the Unicode standard,
	// possessives and case dropped, stop words left out, Porter2 stems.
	English Kind = iota
	// Words: like English without stems; for names.
	Words
	// Exact: the whole text, folded and in lower case, is one term; for labels.
	Exact
)

// maxTokens caps the length of a field, for statistics too.
const maxTokens = 1 << 20

// maxTermBytes cuts what no person would type; longer terms are left out.
const maxTermBytes = 256

// analyzer turns text into terms. It has no state and is safe for concurrent
// use.
type analyzer struct {
	words analysis.DefaultAnalyzer
	stem  *en.EnglishStemmerFilter
	fold  *asciifolding.AsciiFoldingFilter
}

func newAnalyzer() (*analyzer, error) {
	stops := analysis.NewTokenMap()
	if err := stops.LoadBytes(en.EnglishStopWords); err != nil {
		return nil, err
	}
	a := &analyzer{stem: en.NewEnglishStemmerFilter(), fold: asciifolding.New()}
	a.words = analysis.DefaultAnalyzer{
		CharFilters: []analysis.CharFilter{a.fold},
		Tokenizer:   unicode.NewUnicodeTokenizer(),
		TokenFilters: []analysis.TokenFilter{
			en.NewPossessiveFilter(), lowercase.NewLowerCaseFilter(), stop.NewStopTokensFilter(stops),
		},
	}
	return a, nil
}

// tokens returns the terms of a text, in order, repeated ones repeated.
func (a *analyzer) tokens(kind Kind, text string) []string {
	if kind == Exact {
		if t := a.exact(text); t != "" && len(t) <= maxTermBytes {
			return []string{t}
		}
		return nil
	}
	var out []string
	for _, tok := range a.words.Analyze(norm.NFC.Bytes([]byte(text))) {
		if len(tok.Term) > 0 && len(tok.Term) <= maxTermBytes && len(out) < maxTokens {
			out = append(out, string(tok.Term))
		}
	}
	if kind == English {
		for i, w := range out {
			out[i] = a.stemOf(w)
		}
	}
	return out
}

func (a *analyzer) exact(text string) string {
	return strings.ToLower(string(a.fold.Filter(norm.NFC.Bytes([]byte(strings.TrimSpace(text))))))
}

func (a *analyzer) stemOf(word string) string {
	stream := a.stem.Filter(analysis.TokenStream{{Term: []byte(word)}})
	return string(stream[0].Term)
}

// termFreq is how often a term is in a field of a document.
type termFreq struct {
	term string
	freq uint32
}

// docField is one analysed field.
type docField struct {
	field  int // position in Options.Fields
	length uint32
	terms  []termFreq // ascending
}

// document is what is known of one node's text since one transaction. Without
// fields it says that the node has none any more.
type document struct {
	node   value.NodeID
	seq    uint64
	fields []docField // ascending
}

// analyze makes a document. Fields that are not configured are passed over; of
// fields of the same name the texts are joined.
func (ix *Index) analyze(seq uint64, d Doc) *document {
	out := &document{node: d.Node, seq: seq}
	for f, spec := range ix.fields {
		var tokens []string
		for _, t := range d.Fields {
			if t.Name == spec.Name {
				tokens = append(tokens, ix.analyzer.tokens(spec.Kind, t.Text)...)
			}
		}
		if len(tokens) == 0 {
			continue
		}
		tokens = tokens[:min(len(tokens), maxTokens)]
		df := docField{field: f, length: uint32(len(tokens))}
		slices.Sort(tokens)
		for i, t := range tokens {
			if i > 0 && tokens[i-1] == t {
				df.terms[len(df.terms)-1].freq++
			} else {
				df.terms = append(df.terms, termFreq{t, 1})
			}
		}
		out.fields = append(out.fields, df)
	}
	return out
}

func (d *document) deleted() bool { return len(d.fields) == 0 }

// freq returns how often a term is in a field, and the field's length.
func (d *document) freq(field int, term string) (tf, length uint32) {
	for i := range d.fields {
		if f := &d.fields[i]; f.field == field {
			at, ok := slices.BinarySearchFunc(f.terms, term, func(t termFreq, s string) int { return strings.Compare(t.term, s) })
			if !ok {
				return 0, 0
			}
			return f.terms[at].freq, f.length
		}
	}
	return 0, 0
}

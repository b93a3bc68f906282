package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"engram/graph/internal/record"
	"engram/graph/internal/text"
	"engram/graph/value"
)

// textBatch is the changed documents of one transaction.
type textBatch struct {
	seq  uint64
	docs []text.Doc
}

// recentText returns the batches that the text index may not have published yet:
// those of the base that are still pending, and the transaction's own.
func (db *DB) recentText(base *state, seq uint64, docs []text.Doc) []textBatch {
	published := db.text.PublishedSeq()
	var out []textBatch
	for _, b := range base.recent {
		if b.seq > published {
			out = append(out, b)
		}
	}
	if len(docs) > 0 {
		out = append(out, textBatch{seq, docs})
	}
	return out
}

// SearchText ranks nodes by BM25 for the words of a query, best first, ties by
// external id. It sees exactly what the transaction sees, its own writes
// included, whether or not it is on disk. keep, when not nil, drops nodes before
// they are ranked.
func (tx *Tx) SearchText(query string, limit int, keep func(value.NodeID) bool) ([]value.TextHit, error) {
	hits, err := tx.searchText(text.Query{Text: query, Limit: limit, Explain: true}, keep)
	if err != nil {
		return nil, err
	}
	out := make([]value.TextHit, len(hits))
	words := tx.foundWords(query, hits)
	for i, h := range hits {
		out[i] = value.TextHit{Node: h.Node, Score: h.Score, Terms: matched(words, h.Terms)}
	}
	return out, nil
}

// textView returns the text as the transaction sees it.
func (tx *Tx) textView() (*text.View, error) {
	if err := tx.db.textLoaded(tx); err != nil {
		return nil, err
	}
	if tx.w == nil {
		if tx.view == nil {
			return nil, cmp.Or(tx.viewErr, error(text.ErrGone))
		}
		return tx.view, nil
	}
	published := tx.db.text.PublishedSeq()
	view, err := tx.db.text.At(published)
	if err != nil {
		return nil, err
	}
	var over []text.Doc
	for _, b := range tx.base.recent {
		if b.seq > published {
			over = append(over, b.docs...)
		}
	}
	own, err := tx.changedDocs()
	if err != nil {
		return nil, err
	}
	over = append(over, own...)
	if len(over) == 0 {
		return view, nil
	}
	return view.With(over), nil
}

// queryWord is a word as typed with the terms it stands for.
type queryWord struct {
	typed string
	terms []string
}

// queryWords are the words of a query that are wanted, each once and in order, with
// the terms that they stand for.
func (tx *Tx) queryWords(query string, wanted func(word string) bool) []queryWord {
	var out []queryWord
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(query, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\'' && r != '’'
	}) {
		if seen[w] || !wanted(w) {
			continue
		}
		seen[w] = true
		if terms := tx.db.text.Terms(w); len(terms) > 0 {
			out = append(out, queryWord{typed: w, terms: append(terms, strings.ToLower(w))})
		}
	}
	return out
}

// mostWords is of how many words of a query their terms are looked up to tell which of
// them a hit has: a query may be as long as a text, and each word costs some 10 µs.
const mostWords = 2048

// foundWords are the words of a query that some hit may have. Stemming changes how a
// word ends, so one that begins with another letter is none of them.
func (tx *Tx) foundWords(query string, hits []text.Hit) []queryWord {
	var begins [utf8.RuneSelf]bool
	other := false
	for _, h := range hits {
		for _, t := range h.Terms {
			if c := t.Term[0]; c < utf8.RuneSelf {
				begins[c] = true
			} else {
				other = true
			}
		}
	}
	left := mostWords
	return tx.queryWords(query, func(w string) bool {
		c := unicode.ToLower(rune(w[0]))
		if left == 0 || rune(w[0]) < utf8.RuneSelf && c != '\'' && !other && !begins[c] {
			return false
		}
		left--
		return true
	})
}

// matched returns the words that a hit has, those first that gave it most.
func matched(words []queryWord, scores []text.TermScore) []string {
	type scored struct {
		typed string
		score float64
	}
	var found []scored
	for _, w := range words {
		s := scored{typed: w.typed}
		for _, t := range scores {
			if slices.Contains(w.terms, t.Term) {
				s.score += t.Score
			}
		}
		if s.score > 0 {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]string, len(found))
	for i, s := range found {
		out[i] = s.typed
	}
	return out
}

// document makes the document of a node that the transaction changed; without
// fields it has no text.
func (tx *Tx) document(id value.NodeID, e *nodeEdit) (text.Doc, error) {
	if e.deleted {
		return text.Doc{Node: id}, nil
	}
	return tx.db.opts.document(id, e.rec, tx.keys, tx.schema.texts, func(k value.KeyID) (value.Value, error) {
		return tx.overflow(nodeOverflow(id, k))
	})
}

// document makes a node's document of its stored properties. Days are words of
// it, but a node with nothing else has no text.
func (o *Options) document(id value.NodeID, rec *record.Node, keys *keyTable, defs textDefs, overflow func(value.KeyID) (value.Value, error)) (text.Doc, error) {
	doc, hasText := text.Doc{Node: id}, false
	for _, p := range rec.Props {
		i, standard := keys.text[p.Key]
		if !standard && !defs.wants(id, rec.Labels, p.Key) {
			continue
		}
		v := p.Value
		if p.Overflow {
			var err error
			if v, err = overflow(p.Key); err != nil {
				return doc, fmt.Errorf("text of node %d: %w", id, err)
			}
		}
		s, field := textOf(v), declaredField
		if standard {
			s, field = v.AsString(), o.TextFields[i]
		}
		hasText = hasText || s != ""
		if s == "" && standard {
			s = dateWords(v)
		}
		if s != "" {
			doc.Fields = append(doc.Fields, text.FieldText{Name: field, Text: s})
		}
	}
	if !hasText {
		doc.Fields = nil
	}
	return doc, nil
}

// dateWords writes the day of a temporal value as people write days, so that
// "in May 2023" finds it; empty for other kinds.
func dateWords(v value.Value) string {
	var d value.Date
	switch v.Kind() {
	case value.KindDate:
		d = v.AsDate()
	case value.KindLocalDateTime:
		d = v.AsLocalDateTime().Date()
	case value.KindDateTime:
		d = v.AsDateTime().Local().Date()
	default:
		return ""
	}
	year, month, day := d.Civil()
	return fmt.Sprintf("%d %s %d %s", day, time.Month(month), year, time.Weekday(d.Weekday()%7))
}

// titleWeight is how much more a word says in a title.
const titleWeight = 2

// textFields are the fields of the index: names are matched as they are, the
// rest by English stems.
func (o *Options) textFields() []text.Field {
	out := make([]text.Field, len(o.TextFields), len(o.TextFields)+1)
	for i, name := range o.TextFields {
		out[i] = text.Field{Name: name}
		if name == "title" {
			out[i].Weight = titleWeight
		}
		if name == "name" || name == "speaker" {
			out[i].Kind = text.Words
		}
	}
	return append(out, text.Field{Name: declaredField})
}

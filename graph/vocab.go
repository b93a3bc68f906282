package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
	"engram/graph/vocab"
)

// The vocabulary is kept in the meta space: a record for every declared type and
// one for the mode. See layers.go for the rest.
var (
	metaVocab     = []byte("graph/vocab/") // then the name
	metaVocabMode = []byte("graph/vocabmode")
)

// maxRelationName bounds the name of a declared type, in bytes: it is a key.
const maxRelationName = 1024

const modeClosed = "closed"

func vocabKey(name string) []byte { return named(metaVocab, name) }

// vocabulary reads the stored vocabulary.
func (l *loaded) vocabulary() error {
	v := &vocab.Vocabulary{}
	err := l.scan(store.Meta, metaVocab, key.After(metaVocab), func(k, payload []byte) error {
		r := vocab.Relation{Name: string(k[len(metaVocab):])}
		if err := json.Unmarshal(payload, &r); err != nil {
			return l.seal.Damaged(store.Meta, k, fmt.Sprintf("it is no relation type: %v", err))
		}
		v = v.With(r)
		return nil
	})
	if err != nil {
		return err
	}
	sealed, err := l.r.Get(store.Meta, metaVocabMode)
	if err != nil {
		return err
	}
	if sealed != nil {
		mode, err := l.seal.Open(store.Meta, metaVocabMode, sealed)
		if err != nil {
			return err
		}
		v = v.InMode(string(mode) == modeClosed)
	}
	if v, err = l.layers(v); err != nil {
		return err
	}
	l.state.vocab = v
	return nil
}

// Vocabulary returns the relation types as the transaction sees them.
func (tx *Tx) Vocabulary() *vocab.Vocabulary { return tx.vocab }

// DeclareRelation declares a relation type, or says anew what one means. Edges
// that are there already stay as they are.
func (tx *Tx) DeclareRelation(r vocab.Relation) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	if err := checkDeclared("relation type", r.Name); err != nil {
		return err
	}
	payload, err := json.Marshal(r)
	if err != nil {
		return fail(InvalidArgument, "relation type %s cannot be stored: %v", r.Name, err)
	}
	tx.vocab = tx.vocab.With(r)
	return tx.putVocab(vocabKey(r.Name), payload)
}

// DropRelation takes a declared type out of the vocabulary. Its edges stay.
func (tx *Tx) DropRelation(name string) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	tx.vocab = tx.vocab.Without(name)
	return tx.putVocab(vocabKey(name), nil)
}

// CloseVocabulary refuses from now on, or allows again, edges of types that are
// not declared.
func (tx *Tx) CloseVocabulary(closed bool) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	tx.vocab = tx.vocab.InMode(closed)
	if !closed {
		return tx.putVocab(metaVocabMode, nil)
	}
	return tx.putVocab(metaVocabMode, []byte(modeClosed))
}

// putVocab notes a change of a record; nil deletes it.
func (tx *Tx) putVocab(k, payload []byte) error {
	if tx.w.vocab == nil {
		tx.w.vocab = map[string][]byte{}
	}
	tx.w.vocab[string(k)] = payload
	return tx.charge(len(k) + len(payload) + 16)
}

// vocabPuts appends the changed records of the vocabulary.
func (w *writes) vocabPuts(puts []store.Put, seal record.Sealer) []store.Put {
	for _, k := range slices.Sorted(maps.Keys(w.vocab)) {
		put := store.Put{Space: store.Meta, Key: []byte(k)}
		if payload := w.vocab[k]; payload != nil {
			put.Value = seal.Seal(store.Meta, put.Key, payload)
		}
		puts = append(puts, put)
	}
	return puts
}

// checkRelation refuses an edge that the vocabulary does not allow.
func (tx *Tx) checkRelation(t value.TypeID, src, dst value.NodeID) error {
	if !tx.vocab.Checks() {
		return nil
	}
	return checkRelation(tx.vocab, tx.RelTypeName(t), func(from bool, label string) bool {
		id, ok := tx.names.Lookup(catalog.Label, label)
		end := dst
		if from {
			end = src
		}
		return ok && tx.HasLabel(end, value.LabelID(id))
	})
}

// checkRelation tells what the vocabulary has against an edge. has reports
// whether its start (from) or its end carries a label.
func checkRelation(v *vocab.Vocabulary, name string, has func(from bool, label string) bool) error {
	r, ok := v.Lookup(name)
	if !ok {
		if !v.Closed() {
			return nil
		}
		hint := "declare it with CREATE RELATION TYPE"
		if near := v.Nearest(name); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &Error{
			Code: ConstraintViolated, Detail: "UndeclaredRelationType",
			Message: fmt.Sprintf("relation type %s is not declared, and the vocabulary is closed; %s", name, hint),
		}
	}
	for _, end := range []struct {
		word   string
		from   bool
		labels []string
	}{{"start", true, r.From}, {"end", false, r.To}} {
		if len(end.labels) == 0 || slices.ContainsFunc(end.labels, func(l string) bool { return has(end.from, l) }) {
			continue
		}
		return &Error{
			Code: ConstraintViolated, Detail: "RelationTypeEndpoint",
			Message: fmt.Sprintf("the %s of a %s needs one of the labels %v, but has none of them", end.word, name, end.labels),
		}
	}
	return nil
}

// noteLabels remembers the labels of a node if edges may depend on them.
func (l *Loader) noteLabels(id value.NodeID, labels []value.LabelID) {
	if !l.base.vocab.Checks() {
		return
	}
	if l.labels == nil {
		l.labels = map[value.NodeID][]value.LabelID{}
	}
	l.labels[id] = labels
}

// checkRelation refuses an edge that the vocabulary does not allow.
func (l *Loader) checkRelation(name string, src, dst value.NodeID) error {
	if !l.base.vocab.Checks() {
		return nil
	}
	return checkRelation(l.base.vocab, name, func(from bool, label string) bool {
		n, ok := l.names.Lookup(catalog.Label, label)
		end := dst
		if from {
			end = src
		}
		return ok && (slices.Contains(l.labels[end], value.LabelID(n)) || l.base.topo.HasLabel(end, value.LabelID(n)))
	})
}

// vocabulary compares the records with what is in use.
func (c *checker) vocabulary() error {
	l := &loaded{ctx: c.ctx, r: scanner{c.snap}, opts: &c.db.opts, seal: c.db.seal, state: &state{}}
	if err := l.vocabulary(); err != nil {
		c.report.add("the vocabulary cannot be read: %v", err)
		return c.ctx.Err()
	}
	stored, used := fmt.Sprint(relations(l.state.vocab)), fmt.Sprint(relations(c.s.vocab))
	if stored != used {
		c.report.add("the vocabulary in the store differs from the one in use")
	}
	return nil
}

func relations(v *vocab.Vocabulary) []string {
	out := []string{fmt.Sprint(v.Closed())}
	for _, r := range v.All() {
		out = append(out, fmt.Sprintf("%+v", *r))
	}
	return append(out, fmt.Sprintf("%+v %d %v", v.Layers(), v.Self(), v.Pillars()))
}

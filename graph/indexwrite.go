package graph

import (
	"maps"
	"slices"
	"strings"

	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/schema"
	"engram/graph/value"
)

// fetchValue is the fetcher of a transaction.
func (tx *Tx) fetchValue(el element, p record.Prop) (value.Value, error) {
	if el.edge {
		return tx.edgeValue(value.EdgeID(el.id), p)
	}
	return tx.nodeValue(value.NodeID(el.id), p)
}

// declareAll adds or removes the entries of a whole element.
func (tx *Tx) declareAll(el element, there bool) error {
	var err error
	tx.schema.each(el, func(d *indexDef) {
		if err == nil {
			err = tx.declare(d, el, there)
		}
	})
	return err
}

func (tx *Tx) declare(d *indexDef, el element, there bool) error {
	if there {
		return tx.w.declared.add(d, el, tx.fetchValue)
	}
	return tx.w.declared.remove(d, el, tx.fetchValue)
}

// declareProp removes, before property k of an element changes, the entries that
// depend on it, or adds them afterwards.
func (tx *Tx) declareProp(el element, k value.KeyID, there bool) error {
	var err error
	tx.schema.each(el, func(d *indexDef) {
		if err == nil && slices.Contains(d.keys, k) {
			err = tx.declare(d, el, there)
		}
	})
	return err
}

// declareLabel adds or removes the entries that a node has because of a label.
func (tx *Tx) declareLabel(el element, l value.LabelID, there bool) error {
	for _, d := range tx.schema.nodes[l] {
		if err := tx.declare(d, el, there); err != nil {
			return err
		}
	}
	return nil
}

// declaredSize is how many keys the declared indexes change.
func (w *writes) declaredSize() int { return w.declared.entries.Len() + len(w.defs) }

// setDef makes d the definition of its id in this transaction.
func (tx *Tx) setDef(d *indexDef) {
	tx.schema = tx.schema.with(d)
	tx.noteDef(d.ID)
}

func (tx *Tx) dropDef(id uint64) {
	tx.schema = tx.schema.without(id)
	tx.noteDef(id)
}

func (tx *Tx) noteDef(id uint64) {
	if !slices.Contains(tx.w.defs, id) {
		tx.w.defs = append(tx.w.defs, id)
		slices.Sort(tx.w.defs)
	}
}

// schemaPuts appends the changed definitions.
func (tx *Tx) schemaPuts(puts []store.Put) ([]store.Put, error) {
	for _, id := range tx.w.defs {
		d := tx.schema.byID(id)
		if d == nil {
			puts = append(puts, store.Put{Space: store.Meta, Key: schemaKey(id)})
			continue
		}
		put, err := d.put(tx.db.seal)
		if err != nil {
			return nil, err
		}
		puts = append(puts, put)
	}
	return puts, nil
}

// indexCounts returns the counts of the indexes behind the transaction.
func (tx *Tx) indexCounts() (map[uint64]counts64, error) {
	if tx.w.declaredSize() == 0 {
		return tx.base.counts, nil
	}
	delta, err := tx.w.declared.deltas(tx.src)
	if err != nil {
		return nil, err
	}
	out := addCounts(tx.base.counts, delta)
	for _, id := range tx.w.defs {
		if _, ok := out[id]; ok && tx.schema.byID(id) == nil {
			if len(delta) == 0 {
				out = maps.Clone(out)
			}
			delete(out, id)
		}
	}
	return out, nil
}

// describeOwner names what a definition is about.
func describeOwner(d *schema.Def) string {
	if d.Edge {
		return "type " + d.Owner
	}
	return "label " + strings.Join(d.Owners(), " or ")
}

package text

import "fmt"

// FieldHas reports whether a word of a text is in a field of any document.
func (v *View) FieldHas(field, words string) (bool, error) {
	if err := v.ix.usable(); err != nil {
		return false, err
	}
	v, err := v.resolve()
	if err != nil {
		return false, err
	}
	if !v.gen.base.pin.acquire() {
		return false, ErrClosed
	}
	defer v.gen.base.pin.release()
	r, err := v.read()
	if err != nil {
		return false, err
	}
	defer r.gen.base.giveBack(r.dicts)
	q := &Query{Text: words, Weights: map[string]float64{field: 1}}
	for _, g := range r.ix.groups(q) {
		g.expand(r.ix, q)
		for _, it := range g.items {
			if err := r.locate(it); err != nil {
				return false, fmt.Errorf("text index: search: %w", err)
			}
			if it.docs > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}

package commit

import (
	"bytes"

	"engram/graph/internal/store"
)

// change is one key of an overlay: a nil value hides the key below.
type change struct {
	key   []byte
	value []byte
}

// scanOver scans base in [from, to) with changes (ascending, inside the bounds)
// laid over it. fn sees each key once.
func scanOver(base store.Reader, space store.Space, from, to []byte, changes []change, fn func(key, value []byte) bool) error {
	if len(changes) == 0 {
		return base.Scan(space, from, to, fn)
	}
	stopped := false
	emit := func(key, value []byte) bool {
		if value != nil && !fn(key, value) {
			stopped = true
		}
		return !stopped
	}
	err := base.Scan(space, from, to, func(key, value []byte) bool {
		for len(changes) > 0 {
			order := bytes.Compare(changes[0].key, key)
			if order > 0 {
				break
			}
			c := changes[0]
			changes = changes[1:]
			if !emit(c.key, c.value) {
				return false
			}
			if order == 0 {
				return true
			}
		}
		return emit(key, value)
	})
	if err != nil || stopped {
		return err
	}
	for _, c := range changes {
		if !emit(c.key, c.value) {
			return nil
		}
	}
	return nil
}

// clone copies b and keeps nil nil.
func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

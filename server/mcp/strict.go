package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxDepth = 100     // of JSON that is taken in, in objects and lists
	maxKeys  = 100_000 // of one object
)

// checkJSON refuses JSON in which an object has a key twice, also in another case:
// two readers of it could see two things. Depth and keys are bounded.
func checkJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New("it is no JSON")
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == '}' || t == ']' {
				open = open[:top]
				continue
			}
			if top >= 0 {
				open[top].isKey = open[top].keys != nil
			}
			if len(open) == maxDepth {
				return fmt.Errorf("it is nested deeper than %d", maxDepth)
			}
			open = append(open, newLevel(t))
		default:
			if top >= 0 {
				if err := open[top].next(token); err != nil {
					return err
				}
			}
		}
	}
}

// level is an object or list that is being read.
type level struct {
	keys  map[string]string // of an object, in lower case: as they were written
	isKey bool              // the next token is a key
}

func newLevel(d json.Delim) level {
	if d == '{' {
		return level{map[string]string{}, true}
	}
	return level{}
}

// next takes a token that opens nothing.
func (l *level) next(token json.Token) error {
	if l.keys == nil {
		return nil
	}
	if !l.isKey {
		l.isKey = true
		return nil
	}
	l.isKey = false
	key, _ := token.(string)
	// Folding as readers do that ignore case, which takes the long s for an s.
	folded := strings.ToLower(strings.ToUpper(key))
	switch before, ok := l.keys[folded]; {
	case ok && before == key:
		return fmt.Errorf("the key %q is given twice", key)
	case ok:
		return fmt.Errorf("the keys %q and %q differ only in case", before, key)
	case len(l.keys) == maxKeys:
		return fmt.Errorf("an object has more than %d keys", maxKeys)
	}
	l.keys[folded] = key
	return nil
}

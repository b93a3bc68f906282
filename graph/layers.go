package graph

import (
	"encoding/json"
	"fmt"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/store"
	"engram/graph/value"
	"engram/graph/vocab"
)

// Layers, the self and the pillars are kept in the meta space beside the
// relation types.
var (
	metaLayer  = []byte("graph/layer/")  // then the name; JSON
	metaSelf   = []byte("graph/self")    // the id of a node
	metaPillar = []byte("graph/pillar/") // then the name; the id of a node
)

func named(prefix []byte, name string) []byte { return append(slices.Clone(prefix), name...) }

// layers adds what is stored of layers, self and pillars.
func (l *loaded) layers(v *vocab.Vocabulary) (*vocab.Vocabulary, error) {
	err := l.scan(store.Meta, metaLayer, key.After(metaLayer), func(k, payload []byte) error {
		layer := vocab.Layer{Name: string(k[len(metaLayer):])}
		if err := json.Unmarshal(payload, &layer); err != nil {
			return l.seal.Damaged(store.Meta, k, fmt.Sprintf("it is no layer: %v", err))
		}
		v = v.WithLayer(layer)
		return nil
	})
	if err != nil {
		return nil, err
	}
	node := func(k, payload []byte) (value.NodeID, error) {
		id, ok := key.ParseUint(payload)
		if !ok {
			return 0, l.seal.Damaged(store.Meta, k, "it is no id of a node")
		}
		return value.NodeID(id), nil
	}
	err = l.scan(store.Meta, metaPillar, key.After(metaPillar), func(k, payload []byte) error {
		id, err := node(k, payload)
		v = v.WithPillar(string(k[len(metaPillar):]), id)
		return err
	})
	if err != nil {
		return nil, err
	}
	sealed, err := l.r.Get(store.Meta, metaSelf)
	if err != nil || sealed == nil {
		return v, err
	}
	payload, err := l.seal.Open(store.Meta, metaSelf, sealed)
	if err != nil {
		return nil, err
	}
	id, err := node(metaSelf, payload)
	return v.WithSelf(id), err
}

// DeclareLayer makes a layer, or changes one.
func (tx *Tx) DeclareLayer(l vocab.Layer) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	if err := checkDeclared("layer", l.Name); err != nil {
		return err
	}
	payload, err := json.Marshal(l)
	if err != nil {
		return fail(InvalidArgument, "layer %s cannot be stored: %v", l.Name, err)
	}
	tx.vocab = tx.vocab.WithLayer(l)
	return tx.putVocab(named(metaLayer, l.Name), payload)
}

// checkDeclared refuses a name that is no key.
func checkDeclared(what, name string) error {
	if name == "" || len(name) > maxRelationName {
		return fail(InvalidArgument, "the name of a %s has 1 to %d bytes, but this one has %d", what, maxRelationName, len(name))
	}
	return nil
}

// DropLayer removes a layer that was made. Its nodes stay as they are.
func (tx *Tx) DropLayer(name string) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	tx.vocab = tx.vocab.WithoutLayer(name)
	return tx.putVocab(named(metaLayer, name), nil)
}

// DeclareSelf says which node stands for the one who remembers; 0: none.
func (tx *Tx) DeclareSelf(id value.NodeID) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	tx.vocab = tx.vocab.WithSelf(id)
	return tx.putVocab(metaSelf, nodePayload(id))
}

// DeclarePillar declares a node a pillar under a name; node 0 takes the name away.
func (tx *Tx) DeclarePillar(name string, id value.NodeID) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	if err := checkDeclared("pillar", name); err != nil {
		return err
	}
	tx.vocab = tx.vocab.WithPillar(name, id)
	return tx.putVocab(named(metaPillar, name), nodePayload(id))
}

func nodePayload(id value.NodeID) []byte {
	if id == 0 {
		return nil
	}
	return key.Uint(nil, uint64(id))
}

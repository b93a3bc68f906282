package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"engram"
	"engram/server/internal/graphline"
)

// importedKey is the property by which a node tells that an import made it: a list of
// a digest of what it said then, and the names of the properties that it had. With it
// the next import knows whether somebody has changed the node meanwhile.
const importedKey = "imported"

// ownedNode gives a node of an input its id and the property imported.
func ownedNode(n *graphline.Node) *graphline.Node {
	props := slices.DeleteFunc(slices.Clone(n.Props), func(p engram.Prop) bool { return p.Key == importedKey || p.Key == "id" })
	sortProps(props)
	names := make([]any, 1, len(props)+1)
	for _, p := range props {
		names = append(names, p.Key)
	}
	names[0] = digestProps(props)
	imported, _ := engram.ValueOf(names) // texts are always values
	props = append(props, engram.Prop{Key: "id", Value: stringValue(n.ID)}, engram.Prop{Key: importedKey, Value: imported})
	sortProps(props)
	return &graphline.Node{ID: n.ID, Labels: n.Labels, Props: props}
}

func sortProps(props []engram.Prop) {
	slices.SortFunc(props, func(a, b engram.Prop) int {
		switch {
		case a.Key < b.Key:
			return -1
		case a.Key > b.Key:
			return 1
		}
		return 0
	})
}

// digestProps is a digest of properties in the order of their names.
func digestProps(props []engram.Prop) string {
	h := sha256.New()
	var buf []byte
	for _, p := range props {
		buf = append(append(buf[:0], p.Key...), 0)
		buf = append(graphline.AppendValue(buf, p.Value), 0)
		_, _ = h.Write(buf) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// unedited reports whether a stored node still says what its import made it say, and
// returns the names of what that was.
func unedited(n *engram.Node) (names []string, owned, same bool) {
	v := propOf(n.Properties, importedKey)
	if v.Kind() != engram.KindList || len(v.AsList()) == 0 {
		return nil, false, false
	}
	list := v.AsList()
	var props []engram.Prop
	for _, e := range list[1:] {
		names = append(names, e.AsString())
		if v := propOf(n.Properties, e.AsString()); !v.IsNull() {
			props = append(props, engram.Prop{Key: e.AsString(), Value: v})
		}
	}
	sortProps(props)
	return names, true, digestProps(props) == list[0].AsString()
}

func propOf(props []engram.Prop, key string) engram.Value {
	for _, p := range props {
		if p.Key == key {
			return p.Value
		}
	}
	return engram.Value{}
}

func hasProp(props []engram.Prop, key string) bool { return !propOf(props, key).IsNull() }

// hasTextID reports whether a node's property id is a text, by which it can be found.
func hasTextID(n *graphline.Node) bool { return propOf(n.Props, "id").AsString() != "" }

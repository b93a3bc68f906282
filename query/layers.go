package query

import (
	"context"
	"math"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
)

// layerCommands are the commands on layers, the self and pillars; the parser
// makes calls of them.
var layerCommands = []*physical.Procedure{
	layerCommand("CREATE LAYER", createLayer, false, value.KindString, value.KindMap, value.KindBool),
	layerCommand("DROP LAYER", dropLayer, false, value.KindString, value.KindBool),
	layerCommand("DECLARE SELF", declareSelf, true, value.KindNode),
	layerCommand("DECLARE PILLAR", declarePillar, true, value.KindNode, value.KindString),
	layerCommand("DROP SELF", dropSelf, false, value.KindBool),
	layerCommand("DROP PILLAR", dropPillar, false, value.KindString, value.KindBool),
}

func layerCommand(name string, run func(access.LayerWriter, []value.Value) error, clause bool, kinds ...value.Kind) *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{Name: name, Writes: true, Clause: clause}}
	for _, k := range kinds {
		p.Args = append(p.Args, bind.Field{Name: k.String(), Type: bound.OneOf(k)})
	}
	p.Call = func(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		w, ok := g.(access.LayerWriter)
		if !ok {
			return nil, fault.AtRuntime(fault.NotSupported, "NotSupported", "this graph keeps no layers")
		}
		return nil, run(w, args)
	}
	return p
}

// layerKeys are what may be said about a layer.
var layerKeys = []string{"kind", "priority", "suppressible", "transparent", "injectable"}

func createLayer(w access.LayerWriter, args []value.Value) error {
	name := args[0].AsString()
	if _, ok := w.Vocabulary().Layer(name); ok {
		if args[2].AsBool() {
			return nil
		}
		return relationError("LayerExists", "the layer %s exists already", name).
			WithHint("Drop it first, or say IF NOT EXISTS.")
	}
	kind := int64(vocab.KindImprint)
	if m := args[1].AsMap(); m != nil {
		if v, ok := m.Get("kind"); ok && !v.IsNull() {
			if v.Kind() != value.KindInt || v.AsInt() != vocab.KindImprint && v.AsInt() != vocab.KindSuit {
				return relationError("InvalidOption", "kind of a layer cannot be %s", v).WithHint("It is 3 for an imprint or 4 for a suit.")
			}
			kind = v.AsInt()
		}
	}
	l := vocab.PlainLayer(name, int(kind))
	if err := describeLayer(&l, args[1]); err != nil {
		return err
	}
	return w.DeclareLayer(l)
}

// describeLayer sets what the map says; null stands for the default.
func describeLayer(l *vocab.Layer, m value.Value) error {
	for _, p := range m.AsMap().Entries {
		ok := true
		switch p.Key {
		case "kind":
		case "priority":
			if p.Value.Kind() == value.KindInt {
				l.Priority = p.Value.AsInt()
				ok = l.Priority > math.MinInt32 && l.Priority < math.MaxInt32
			} else {
				ok = p.Value.IsNull()
			}
		case "suppressible":
			ok = flag(&l.Suppressible, p.Value)
		case "transparent":
			ok = flag(&l.Transparent, p.Value)
		case "injectable":
			ok = flag(&l.Injectable, p.Value)
		default:
			err := relationError("UnknownOption", "a layer has no %s", p.Key)
			if near := fault.Nearest(p.Key, layerKeys); near != "" {
				return err.WithHint("Did you mean %s?", near)
			}
			return err.WithHint("It has %s.", joined(layerKeys))
		}
		if !ok && p.Key == "priority" {
			return relationError("InvalidOption", "priority of a layer cannot be %s", p.Value).WithHint("It is an INTEGER; smaller goes first.")
		}
		if !ok {
			return relationError("InvalidOption", "%s of a layer cannot be %s", p.Key, p.Value).WithHint("It is true or false.")
		}
	}
	return nil
}

// flag sets a truth value unless v is null, and reports whether v fits.
func flag(to *bool, v value.Value) bool {
	if v.Kind() == value.KindBool {
		*to = v.AsBool()
	}
	return v.Kind() == value.KindBool || v.IsNull()
}

func dropLayer(w access.LayerWriter, args []value.Value) error {
	name := args[0].AsString()
	l, ok := w.Vocabulary().Layer(name)
	switch {
	case ok && l.Kind <= vocab.KindDomain:
		return relationError("LayerBuiltIn", "the layer %s is built in and cannot be dropped", name)
	case ok:
		return w.DropLayer(name)
	case args[1].AsBool():
		return nil
	}
	err := relationError("NoSuchLayer", "there is no layer %s", name)
	var names []string
	for _, l := range w.Vocabulary().Layers() {
		names = append(names, l.Name)
	}
	if near := fault.NearestName(name, names); near != "" {
		return err.WithHint("Did you mean %s?", near)
	}
	return err.WithHint("SHOW LAYERS lists them.")
}

func vocabularyOf(g access.Reader) *vocab.Vocabulary {
	if r, ok := g.(access.VocabularyReader); ok {
		return r.Vocabulary()
	}
	return &vocab.Vocabulary{}
}

// showLayers lists the layers in order of priority.
func showLayers(g access.Reader) [][]value.Value {
	var rows [][]value.Value
	for _, l := range vocabularyOf(g).Layers() {
		origin := "created"
		if l.Kind <= vocab.KindDomain {
			origin = "built in"
		}
		rows = append(rows, []value.Value{
			value.String(l.Name), value.Int(int64(l.Kind)), value.Int(l.Priority),
			value.Bool(l.Suppressible), value.Bool(l.Transparent), value.Bool(l.Injectable), value.String(origin),
		})
	}
	return rows
}

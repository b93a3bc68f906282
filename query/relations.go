package query

import (
	"context"
	"math"
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
)

// relationCommands are the commands on the vocabulary of relation types; the
// parser makes calls of them.
var relationCommands = []*physical.Procedure{
	relationCommand("CREATE RELATION TYPE", createRelation, value.KindString, value.KindMap, value.KindBool),
	relationCommand("ALTER RELATION TYPE", alterRelation, value.KindString, value.KindMap),
	relationCommand("DROP RELATION TYPE", dropRelation, value.KindString, value.KindBool),
	relationCommand("ALTER RELATION TYPES", func(w access.VocabularyWriter, args []value.Value) error {
		return w.CloseVocabulary(args[0].AsBool())
	}, value.KindBool),
}

func relationCommand(name string, run func(access.VocabularyWriter, []value.Value) error, kinds ...value.Kind) *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{Name: name, Writes: true}}
	for _, k := range kinds {
		p.Args = append(p.Args, bind.Field{Name: k.String(), Type: bound.OneOf(k)})
	}
	p.Call = func(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		w, ok := g.(access.VocabularyWriter)
		if !ok {
			return nil, fault.AtRuntime(fault.NotSupported, "NotSupported", "this graph keeps no vocabulary of relation types")
		}
		return nil, run(w, args)
	}
	return p
}

func createRelation(w access.VocabularyWriter, args []value.Value) error {
	name := args[0].AsString()
	if _, ok := w.Vocabulary().Lookup(name); ok {
		if args[2].AsBool() {
			return nil
		}
		return relationError("RelationTypeExists", "the relation type %s exists already", name).
			WithHint("Change it with ALTER RELATION TYPE, or say IF NOT EXISTS.")
	}
	r := vocab.Default(name)
	if err := describeRelation(&r, args[1]); err != nil {
		return err
	}
	return w.DeclareRelation(r)
}

func alterRelation(w access.VocabularyWriter, args []value.Value) error {
	old, ok := w.Vocabulary().Lookup(args[0].AsString())
	if !ok {
		return noRelation(w, args[0].AsString())
	}
	r := *old
	if err := describeRelation(&r, args[1]); err != nil {
		return err
	}
	return w.DeclareRelation(r)
}

func dropRelation(w access.VocabularyWriter, args []value.Value) error {
	name := args[0].AsString()
	if _, ok := w.Vocabulary().Declared(name); ok {
		return w.DropRelation(name)
	}
	if _, builtIn := w.Vocabulary().Lookup(name); builtIn {
		return relationError("RelationTypeBuiltIn", "the relation type %s is built in and cannot be dropped", name).
			WithHint("ALTER RELATION TYPE changes it; DROP then takes the change back.")
	}
	if args[1].AsBool() {
		return nil
	}
	return noRelation(w, name)
}

func noRelation(w access.VocabularyWriter, name string) error {
	err := relationError("NoSuchRelationType", "there is no relation type %s in the vocabulary", name)
	if near := w.Vocabulary().Nearest(name); near != "" {
		return err.WithHint("Did you mean %s?", near)
	}
	return err.WithHint("SHOW RELATION TYPES lists them; CREATE RELATION TYPE declares one.")
}

func relationError(detail, format string, args ...any) *fault.Error {
	return fault.AtRuntime(fault.ArgumentError, detail, format, args...)
}

// relationKeys are what may be said about a relation type.
var relationKeys = []string{"meaning", "from", "to", "weight", "forward", "backward", "inhibitory", "transitive"}

// describeRelation sets what the map says; null stands for the default.
func describeRelation(r *vocab.Relation, m value.Value) error {
	plain := vocab.Default(r.Name)
	for _, p := range m.AsMap().Entries {
		v, ok := p.Value, true
		switch p.Key {
		case "meaning":
			r.Meaning, ok = v.AsString(), v.IsNull() || v.Kind() == value.KindString
		case "from":
			r.From, ok = labelList(v)
		case "to":
			r.To, ok = labelList(v)
		case "weight":
			r.Weight, ok = factor(v, plain.Weight)
		case "forward":
			r.Forward, ok = factor(v, plain.Forward)
		case "backward":
			r.Backward, ok = factor(v, plain.Backward)
		case "inhibitory":
			r.Inhibitory, ok = v.AsBool(), v.IsNull() || v.Kind() == value.KindBool
		case "transitive":
			r.Transitive, ok = v.AsBool(), v.IsNull() || v.Kind() == value.KindBool
		default:
			err := relationError("UnknownOption", "a relation type has no %s", p.Key)
			if near := fault.Nearest(p.Key, relationKeys); near != "" {
				return err.WithHint("Did you mean %s?", near)
			}
			return err.WithHint("It has %s.", joined(relationKeys))
		}
		if !ok {
			return relationError("InvalidOption", "%s of a relation type cannot be %s", p.Key, v).WithHint("%s", optionHint(p.Key))
		}
	}
	return nil
}

func optionHint(key string) string {
	switch key {
	case "from", "to":
		return "It is a label or a list of labels, each a STRING."
	case "weight", "forward", "backward":
		return "It is a number from 0."
	case "meaning":
		return "It is a STRING."
	}
	return "It is true or false."
}

func joined(words []string) string {
	out := ""
	for i, w := range words {
		if i > 0 {
			out += ", "
		}
		out += w
	}
	return out
}

func labelList(v value.Value) ([]string, bool) {
	switch v.Kind() {
	case value.KindNull:
		return nil, true
	case value.KindString:
		return []string{v.AsString()}, true
	case value.KindList:
		var out []string
		for _, l := range v.AsList() {
			if l.Kind() != value.KindString {
				return nil, false
			}
			out = append(out, l.AsString())
		}
		slices.Sort(out)
		return slices.Compact(out), true
	}
	return nil, false
}

func stringList(texts []string) value.Value {
	out := make([]value.Value, len(texts))
	for i, t := range texts {
		out[i] = value.String(t)
	}
	return value.List(out)
}

// factor reads a number from 0; null is the default.
func factor(v value.Value, otherwise float64) (float64, bool) {
	if v.IsNull() {
		return otherwise, true
	}
	f := v.AsFloat()
	return f, v.IsNumber() && f >= 0 && !math.IsInf(f, 0)
}

// showRelations lists the vocabulary.
func showRelations(g access.Reader) [][]value.Value {
	v := &vocab.Vocabulary{}
	if r, ok := g.(access.VocabularyReader); ok {
		v = r.Vocabulary()
	}
	mode := "open"
	if v.Closed() {
		mode = "closed"
	}
	var rows [][]value.Value
	for _, r := range v.All() {
		origin := "built in"
		if _, ok := v.Declared(r.Name); ok {
			origin = "declared"
		}
		used := int64(0)
		if t, ok := g.RelType(r.Name); ok {
			used = g.EdgeCount(t)
		}
		rows = append(rows, []value.Value{
			value.String(r.Name), value.String(r.Meaning), stringList(r.From), stringList(r.To),
			value.Float(r.Weight), value.Float(r.Forward), value.Float(r.Backward),
			value.Bool(r.Inhibitory), value.Bool(r.Transitive), value.String(origin), value.String(mode), value.Int(used),
		})
	}
	return rows
}

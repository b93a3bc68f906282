package query

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/fault"
)

// declareSelf says who remembers. There is one: another has to be dropped first, so
// that a statement with several rows, or a second person, does not take its place
// unnoticed.
func declareSelf(w access.LayerWriter, args []value.Value) error {
	id, err := declared(w, args[0], "DECLARE SELF", "DROP SELF takes back who is declared.")
	if err != nil {
		return err
	}
	switch now := w.Vocabulary().Self(); {
	case now == id:
		return nil
	case now != 0 && w.NodeExists(now):
		return relationError("SelfDeclared", "%s is declared as the self already, and there is one only", elementName(w, now)).
			WithHint("DROP SELF first.")
	}
	return w.DeclareSelf(id)
}

// declarePillar gives a node a name as a pillar; a name means one node.
func declarePillar(w access.LayerWriter, args []value.Value) error {
	name, err := pillarName(args[1])
	if err != nil {
		return err
	}
	id, err := declared(w, args[0], "DECLARE PILLAR", "DROP PILLAR takes back what is declared under a name.")
	if err != nil {
		return err
	}
	for _, p := range w.Vocabulary().Pillars() {
		switch {
		case p.Name != name:
		case p.Node == id:
			return nil
		case w.NodeExists(p.Node):
			return relationError("PillarDeclared", "the name %s is that of the pillar %s already", value.String(name), elementName(w, p.Node)).
				WithHint("Give it another name, or say DROP PILLAR %s first.", value.String(name))
		}
	}
	return w.DeclarePillar(name, id)
}

func pillarName(v value.Value) (string, error) {
	if v.Kind() != value.KindString || v.AsString() == "" {
		return "", relationError("InvalidArgumentValue", "the name of a pillar is a text that is not empty, but this is %s", v)
	}
	return v.AsString(), nil
}

// declared is the node that is to be declared: one that is there.
func declared(g access.Reader, v value.Value, clause, otherwise string) (value.NodeID, error) {
	if v.IsNull() { // most often an OPTIONAL MATCH that found nothing
		return 0, relationError("InvalidArgumentValue", "%s needs a node, but got null", clause).WithHint("%s", otherwise)
	}
	if !g.NodeExists(v.NodeID()) {
		return 0, fault.AtRuntime(fault.EntityNotFound, "DeletedEntityAccess", "%s: the node has been deleted", clause)
	}
	return v.NodeID(), nil
}

func elementName(g access.Reader, id value.NodeID) string {
	s, err := g.ElementID(id)
	if err != nil {
		return "a node"
	}
	return s
}

func dropSelf(w access.LayerWriter, args []value.Value) error {
	now := w.Vocabulary().Self()
	if (now == 0 || !w.NodeExists(now)) && !args[0].AsBool() {
		return relationError("NoSelf", "no self is declared")
	}
	if now == 0 {
		return nil
	}
	return w.DeclareSelf(0)
}

func dropPillar(w access.LayerWriter, args []value.Value) error {
	name, err := pillarName(args[0])
	if err != nil {
		return err
	}
	var names []string
	for _, p := range w.Vocabulary().Pillars() {
		if p.Name == name {
			return w.DeclarePillar(name, 0)
		}
		names = append(names, p.Name)
	}
	if args[1].AsBool() {
		return nil
	}
	missing := relationError("NoSuchPillar", "there is no pillar %s", value.String(name))
	if near := fault.NearestName(name, names); near != "" {
		return missing.WithHint("Did you mean %s?", near)
	}
	return missing.WithHint("SHOW PILLARS lists them.")
}

// showPillars lists the self, as such, and the pillars by name. What was deleted is
// neither.
func showPillars(g access.Reader) [][]value.Value {
	v := vocabularyOf(g)
	var rows [][]value.Value
	if self := v.Self(); self != 0 && g.NodeExists(self) {
		rows = append(rows, []value.Value{value.String("self"), value.Null, value.NodeRef(self)})
	}
	for _, p := range v.Pillars() {
		if g.NodeExists(p.Node) {
			rows = append(rows, []value.Value{value.String("pillar"), value.String(p.Name), value.NodeRef(p.Node)})
		}
	}
	return rows
}

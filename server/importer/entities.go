package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// memoryLine is a line of a file of the reference memory server of MCP.
type memoryLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

// maxEntityName is how many bytes of a name an id holds.
const maxEntityName = 400

// entityID is the id of the entity with a name.
func entityID(name string) string {
	if len(name) <= maxEntityName {
		return "entity:" + name
	}
	return "entity:" + strings.ToValidUTF8(name[:maxEntityName], "") + "~" + shortDigest(name)
}

func shortDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// readEntities reads entities, each with a node for every observation, so that recall
// finds them by their words, and relations between entities.
func readEntities(im *importing, s *stage) error {
	edges, err := newSpoolFile()
	if err != nil {
		return err
	}
	defer func() { _ = edges.file.Close() }() // it has no name any more
	err = eachLine(im.file, func(line int, text []byte, _ int64) error {
		at := origin{line: line}
		var m memoryLine
		if err := json.Unmarshal(text, &m); err != nil {
			return s.bad(at, errors.New("not JSON of an entity or a relation"))
		}
		im.report.Lines++
		switch {
		case m.Type == "entity" && m.Name != "":
			return entity(s, edges, at, &m)
		case m.Type == "relation" && m.From != "" && m.To != "" && strings.TrimSpace(m.RelationType) != "":
			v, _ := engram.ValueOf(true)
			return edges.write(at, graphline.AppendEdge(nil, &graphline.Edge{
				From: m.From, To: m.To, Type: m.RelationType, Props: []engram.Prop{{Key: "relation", Value: v}},
			}))
		}
		return s.bad(at, errors.New(`want {"type":"entity","name",...} or {"type":"relation","from","to","relationType"}`))
	})
	if err != nil {
		return err
	}
	if err := unknownEnds(s, edges); err != nil {
		return err
	}
	return edges.each(func(at origin, text []byte) error {
		l, err := graphline.ParseOwn(text)
		if err != nil {
			return err
		}
		if hasProp(l.Edge.Props, "relation") {
			l.Edge.From, l.Edge.To = entityID(l.Edge.From), entityID(l.Edge.To)
		}
		return s.edge(at, l.Edge)
	})
}

func entity(s *stage, edges *spoolFile, at origin, m *memoryLine) error {
	id := entityID(m.Name)
	err := s.node(at, &graphline.Node{ID: id, Labels: []string{"Entity"}, Props: []engram.Prop{
		{Key: "name", Value: stringValue(m.Name)}, {Key: "entityType", Value: stringValue(m.EntityType)}, {Key: "origin", Value: stringValue("import")},
	}})
	var twice *errNodeTwice
	if errors.As(err, &twice) {
		s.report.problemAt(at, "the entity %q stands on an earlier line; the observations of both are kept", m.Name)
		err = nil
	}
	if err != nil {
		return err
	}
	for _, o := range m.Observations {
		n := &graphline.Node{ID: "observation:" + shortDigest(m.Name) + "/" + shortDigest(o), Labels: []string{"Memory", "Observation"}, Props: []engram.Prop{
			{Key: "content", Value: stringValue(o)}, {Key: "origin", Value: stringValue("import")}, {Key: "tier", Value: stringValue("Episodic")},
		}}
		err := s.node(at, n)
		if errors.As(err, &twice) {
			continue // the same observation again
		}
		if err == nil {
			s.report.Memories++
			err = edges.write(at, graphline.AppendEdge(nil, &graphline.Edge{From: id, To: n.ID, Type: "OBSERVED"}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownEnds makes nodes of the names that relations have and no entity.
func unknownEnds(s *stage, edges *spoolFile) error {
	return edges.each(func(at origin, text []byte) error {
		l, err := graphline.ParseOwn(text)
		if err != nil || !hasProp(l.Edge.Props, "relation") {
			return err
		}
		for _, name := range []string{l.Edge.From, l.Edge.To} {
			err := s.node(at, &graphline.Node{ID: entityID(name), Labels: []string{"EntityName"}, Props: []engram.Prop{{Key: "name", Value: stringValue(name)}}})
			var twice *errNodeTwice
			if err == nil {
				s.report.problemAt(at, "no entity has the name %q; a node with nothing but the name stands for it", name)
			} else if !errors.As(err, &twice) {
				return err
			}
		}
		return nil
	})
}

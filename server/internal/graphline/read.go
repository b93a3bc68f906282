package graphline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/strict"
)

// wire is a line as it stands in JSON.
type wire struct {
	Engram *struct {
		Version int `json:"version"`
	} `json:"engram"`
	Schema *string   `json:"schema"`
	Node   *wireNode `json:"node"`
	Edge   *wireEdge `json:"edge"`
	End    *End      `json:"end"`
}

type wireNode struct {
	ID         string         `json:"id"`
	Labels     []string       `json:"labels"`
	Properties map[string]any `json:"properties"`
}

type wireEdge struct {
	ID         string         `json:"id"` // of the database that was exported; not kept
	Type       string         `json:"type"`
	Start      string         `json:"start"`
	End        string         `json:"end"`
	Properties map[string]any `json:"properties"`
}

// Parse reads one line.
func Parse(text []byte) (*Line, error) {
	var w wire
	if err := strict.Decode(text, &w); err != nil {
		return nil, parseError(err)
	}
	return w.line()
}

// ParseOwn is Parse for what this package wrote a moment ago: it does not look for
// unknown or repeated keys.
func ParseOwn(text []byte) (*Line, error) {
	var w wire
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&w); err != nil {
		return nil, err
	}
	return w.line()
}

func (w *wire) line() (*Line, error) {
	out, set := &Line{End: w.End}, 0
	if w.End != nil {
		set++
	}
	if w.Engram != nil {
		set++
		if out.Version = w.Engram.Version; out.Version < 1 || out.Version > Version {
			return nil, fmt.Errorf("the file has the version %d of the format; this program reads up to %d", out.Version, Version)
		}
	}
	if w.Schema != nil {
		set++
		if out.Schema = *w.Schema; strings.TrimSpace(out.Schema) == "" {
			return nil, errors.New("the schema's statement is empty")
		}
	}
	var err error
	if w.Node != nil {
		set++
		if out.Node, err = w.Node.node(); err != nil {
			return nil, err
		}
	}
	if w.Edge != nil {
		set++
		if out.Edge, err = w.Edge.edge(); err != nil {
			return nil, err
		}
	}
	if set != 1 {
		return nil, errors.New("a line has one of the fields node, edge, schema, engram and end")
	}
	return out, nil
}

// parseError speaks of lines, not of bodies of requests.
func parseError(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "the body", "the line"))
}

func (w *wireNode) node() (*Node, error) {
	props, err := propsOf(w.Properties)
	if err != nil {
		return nil, err
	}
	n := &Node{ID: w.ID, Labels: slices.Compact(slices.Sorted(slices.Values(w.Labels))), Props: props}
	own := slices.IndexFunc(props, func(p engram.Prop) bool { return p.Key == "id" })
	switch {
	case own >= 0 && props[own].Value.Kind() == engram.KindString && props[own].Value.AsString() != "":
		if id := props[own].Value.AsString(); n.ID == "" {
			n.ID = id
		} else if n.ID != id {
			return nil, fmt.Errorf("the node's id %q differs from its property id %q", n.ID, id)
		}
	case n.ID == "":
		return nil, errors.New("a node needs an id that is not empty")
	}
	if slices.Contains(n.Labels, "") {
		return nil, errors.New("a label is empty")
	}
	return n, nil
}

func (w *wireEdge) edge() (*Edge, error) {
	switch {
	case w.Type == "":
		return nil, errors.New("an edge needs a type")
	case w.Start == "" || w.End == "":
		return nil, errors.New("an edge needs start and end, the ids of two nodes")
	}
	props, err := propsOf(w.Properties)
	return &Edge{Type: w.Type, From: w.Start, To: w.End, Props: props}, err
}

// propsOf makes properties, by name; null is none.
func propsOf(m map[string]any) ([]engram.Prop, error) {
	names := make([]string, 0, len(m))
	for name, x := range m {
		if name == "" {
			return nil, errors.New("the name of a property is empty")
		}
		if x != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	props := make([]engram.Prop, 0, len(names))
	for _, name := range names {
		v, err := valueOf(m[name])
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", name, err)
		}
		props = append(props, engram.Prop{Key: name, Value: v})
	}
	return props, nil
}

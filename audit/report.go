package audit

import (
	"bytes"
	"encoding/json"

	"engram/graph/value"
)

// Status says what a finding comes to. It is no grade: a notice may be all right
// in this graph, and only its owner knows.
type Status string

// The statuses.
const (
	OK       Status = "ok"       // measured, and nothing stands out
	Notice   Status = "notice"   // worth a look
	Defect   Status = "defect"   // something that must not be
	Unknown  Status = "unknown"  // could not be measured; the note has the reason
	Deferred Status = "deferred" // not evaluated yet; the note has the measured reason
)

// Report is what an audit found in one snapshot.
type Report struct {
	// Score is always nil, and null in JSON: a memory has a shape, not a mark.
	Score *float64 `json:"score"`
	// Seq is the transaction that the snapshot shows.
	Seq      uint64    `json:"seq"`
	Findings []Finding `json:"findings"` // in the order of Names
	// Deferred and Unknown repeat why some findings say nothing yet.
	Deferred []Reason `json:"deferred"`
	Unknown  []Reason `json:"unknown"`
}

// Reason says why a finding was not evaluated, or could not be.
type Reason struct {
	Finding string `json:"finding"`
	Reason  string `json:"reason"`
	// Have and Need count what there is and how many it takes; both are 0 when that
	// is not what is missing.
	Have int64 `json:"have,omitempty"`
	Need int64 `json:"need,omitempty"`
}

// Finding is one thing that was looked at.
type Finding struct {
	Name   string `json:"finding"`
	Status Status `json:"status"`
	// Count is how many things stand out: nodes and edges, or names where it is about
	// those; at least 1 for a notice or a defect, else 0. A baseline accepts a number.
	Count int64 `json:"count"`
	// Note says in plain words what the numbers mean.
	Note string `json:"note"`
	// How says how they were obtained, and over which population.
	How      string    `json:"how"`
	Measured []Measure `json:"measured"`
	// Parts are distributions: in order of group, as the finding lists them.
	Parts []Part `json:"parts"`
	// Nodes and Edges are those that the finding is about.
	Nodes Nodes `json:"nodes"`
	Edges Edges `json:"edges"`
	// Suggestions are statements that a person may run; only with Options.Suggest.
	Suggestions []string `json:"suggestions"`

	have, need int64 // see Reason
}

// Measure is one number, or one word, with its unit.
type Measure struct {
	Name string `json:"name"`
	// Value is an int64, a float64 or a string; nil when it is unknown.
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"` // such as "nodes", "ms", "share"
}

// Part is one entry of a distribution: how many of a group have a name.
type Part struct {
	Group string `json:"group"` // such as "type", "label", "tier"
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Note  string `json:"note,omitempty"`
}

// Nodes lists some of the nodes that a finding is about.
type Nodes struct {
	Total int64  `json:"total"` // all of them
	Items []Node `json:"items"` // at most Options.Limit
	// Next is what Options.Cursor takes to go on behind them; empty at the end.
	Next string `json:"next,omitempty"`
}

// Node is one node with the reason why it is listed.
type Node struct {
	ID  value.NodeID `json:"-"`             // 0 when there is no such node any more
	Ext string       `json:"id"`            // its external id
	Why string       `json:"why,omitempty"` // in plain words
}

// Edges lists some of the edges that a finding is about.
type Edges struct {
	Total int64  `json:"total"`
	Items []Edge `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Edge is one edge with the reason why it is listed.
type Edge struct {
	ID   value.EdgeID `json:"-"`
	Ext  string       `json:"id"`
	From string       `json:"from"` // external ids of its ends
	To   string       `json:"to"`
	Type string       `json:"type"`
	Why  string       `json:"why,omitempty"`
}

// Finding returns the finding of a name; nil when it was not asked for.
func (r *Report) Finding(name string) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Name == name {
			return &r.Findings[i]
		}
	}
	return nil
}

// Measure returns the value of a measure; nil when there is none.
func (f *Finding) Measure(name string) any {
	for _, m := range f.Measured {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// count fills Count in where the rule has not.
func (f *Finding) count() {
	switch {
	case f.Status != Notice && f.Status != Defect:
		f.Count = 0
	case f.Count == 0:
		f.Count = max(f.Nodes.Total+f.Edges.Total, 1)
	}
}

// measure adds a measure. Counts are int64.
func (f *Finding) measure(name string, v any, unit string) {
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	f.Measured = append(f.Measured, Measure{name, v, unit})
}

// part adds to a distribution.
func (f *Finding) part(group, name string, count int64, note string) {
	f.Parts = append(f.Parts, Part{group, name, count, note})
}

// UnmarshalJSON reads a measure back as it was: what has no fraction is an int64.
func (m *Measure) UnmarshalJSON(text []byte) error {
	var raw struct {
		Name  string
		Value any
		Unit  string
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return err
	}
	m.Name, m.Value, m.Unit = raw.Name, raw.Value, raw.Unit
	n, ok := raw.Value.(json.Number)
	if !ok {
		return nil
	}
	if i, err := n.Int64(); err == nil {
		m.Value = i
		return nil
	}
	f, err := n.Float64()
	m.Value = f
	return err
}

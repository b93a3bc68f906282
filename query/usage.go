package query

import (
	"encoding/json"
	"fmt"

	"engram/audit"
	"engram/query/internal/usage"
)

// seq is the transaction that a run reads, or for one that writes the one that it
// becomes unless it is rolled back; 0 for a graph that does not count them.
func (p *Plan) seq(g Reader) uint64 {
	s, ok := g.(interface{ Seq() uint64 })
	switch {
	case !ok:
		return 0
	case p.tree.Writes:
		return s.Seq() + 1
	}
	return s.Seq()
}

// usageVersion is the version of the form in which statement statistics are kept.
//
//	1  first
const usageVersion = 1

type keptUsage struct {
	Version int `json:"version"`
	usage.Summary
}

// reads is what an audit is told of statements.
func (e *Engine) reads() *audit.Reads {
	s := e.usage.Summary()
	return &s
}

// SaveUsage returns what the engine counted of the names that statements read and
// write, in a form that LoadUsage takes; nil when nothing was counted since the last
// call.
func (e *Engine) SaveUsage() ([]byte, error) {
	if !e.usage.Changed() {
		return nil, nil
	}
	return json.Marshal(keptUsage{usageVersion, e.usage.Summary()})
}

// LoadUsage goes on counting where an earlier engine stopped. It is for an engine
// that has run nothing yet.
func (e *Engine) LoadUsage(kept []byte) error {
	var k keptUsage
	if err := json.Unmarshal(kept, &k); err != nil {
		return fmt.Errorf("the kept statistics of statements cannot be read: %w", err)
	}
	if k.Version != usageVersion {
		return fmt.Errorf("the kept statistics of statements have the form %d, and this version reads %d", k.Version, usageVersion)
	}
	e.usage.Load(k.Summary)
	return nil
}

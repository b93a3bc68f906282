package chatbridge

import (
	"encoding/json"
	"time"
)

// SetHold sets how long a conversation stays a process's that is not heard of.
func (b *Bridge) SetHold(d time.Duration) { b.hold = d }

// Schemas are the schemas of the arguments of the tools that a model is offered, by name.
func (b *Bridge) Schemas() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, t := range b.offered() {
		out[t.Name] = t.Schema
	}
	return out
}

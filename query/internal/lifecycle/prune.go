package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/temporal"
)

// MaxPruned is how many nodes one PRUNE deletes, so that it fits a transaction and
// nobody waits long for the write slot.
const MaxPruned = 10_000

// PruneTelemetry deletes nodes of telemetry that were created before now less the
// age, with their edges, the oldest numbers first. Nodes that do not say when they
// were created as a DATETIME stay; an age below zero is refused. rest tells that there was more than MaxPruned.
func PruneTelemetry(g Graph, age value.Value) (pruned int64, rest bool, err error) {
	if age.Kind() != value.KindDuration {
		return 0, false, refused("InvalidArgumentType", "PRUNE TELEMETRY OLDER THAN needs a DURATION such as duration('P30D'), but got %s", age)
	}
	before, err := temporal.Subtract(value.OfDateTime(g.Now()), age)
	if err != nil {
		return 0, false, err
	}
	if order, ok := value.Compare(before, value.OfDateTime(g.Now())); ok && order > 0 {
		return 0, false, refused("NegativeDuration", "PRUNE TELEMETRY OLDER THAN needs a duration that is not negative, but got %s", age)
	}
	label, ok := g.Label(vocab.LabelTelemetry)
	key, known := g.Key(vocab.KeyCreatedAt)
	if !ok || !known {
		return 0, false, nil
	}
	buf := make([]value.NodeID, 1024)
	for after := value.NodeID(0); ; {
		ids, err := g.ScanNodes(label, after, buf)
		if err != nil || len(ids) == 0 {
			return pruned, false, err
		}
		if err := g.Step(len(ids)); err != nil {
			return pruned, false, err
		}
		after = ids[len(ids)-1]
		for _, id := range ids {
			at, err := g.NodeProp(id, key)
			if err != nil {
				return pruned, false, err
			}
			if at.Kind() != value.KindDateTime {
				continue
			}
			if order, ok := value.Compare(at, before); !ok || order >= 0 {
				continue
			}
			if pruned == MaxPruned {
				return pruned, true, nil
			}
			if err := g.Delete(id); err != nil {
				return pruned, false, err
			}
			pruned++
		}
	}
}

package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/temporal"
)

// MaxPruned is how many nodes one PRUNE deletes, so that it fits a transaction and
// nobody waits long for the write slot.
const MaxPruned = 10_000

// Pruned is what PRUNE TELEMETRY did.
type Pruned struct {
	Nodes   int64
	More    bool  // there are others, beyond MaxPruned
	Undated int64 // of those that were looked at, which stay
}

// PruneTelemetry deletes nodes of telemetry that were created before now less the
// age, with their edges, the oldest numbers first. created_at may be a DATETIME, a
// LOCAL DATETIME, a DATE, the text of one or milliseconds since 1970; nodes that do not
// say so stay and are counted. An age below zero is refused.
func PruneTelemetry(g Graph, age value.Value) (out Pruned, err error) {
	if age.Kind() != value.KindDuration {
		return out, refused("InvalidArgumentType", "PRUNE TELEMETRY OLDER THAN needs a DURATION such as duration('P30D'), but got %s", age)
	}
	now := value.OfDateTime(g.Now())
	limit, err := temporal.Subtract(now, age)
	if err != nil {
		return out, err
	}
	if before(now, limit) {
		return out, refused("NegativeDuration", "PRUNE TELEMETRY OLDER THAN needs a duration that is not negative, but got %s", age)
	}
	label, ok := g.Label(vocab.LabelTelemetry)
	if !ok {
		return out, nil
	}
	buf := make([]value.NodeID, 1024)
	for after := value.NodeID(0); ; {
		ids, err := g.ScanNodes(label, after, buf)
		if err != nil || len(ids) == 0 {
			return out, err
		}
		if err := g.Step(len(ids)); err != nil {
			return out, err
		}
		after = ids[len(ids)-1]
		for _, id := range ids {
			created, err := prop(g, id, vocab.KeyCreatedAt)
			if err != nil {
				return out, err
			}
			switch at, ok := anyMoment(created); {
			case !ok:
				out.Undated++
				continue
			case !before(at, limit):
				continue
			case out.Nodes == MaxPruned:
				out.More = true
				return out, nil
			}
			if err := g.Delete(id); err != nil {
				return out, err
			}
			out.Nodes++
		}
	}
}

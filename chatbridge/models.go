package chatbridge

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/wire"
)

// Reach is whether a provider can be reached, and which models it lists.
type Reach struct {
	// Reachable: it answered, be it by refusing.
	Reachable bool
	// Problem tells why it cannot be reached, or why it lists no models; empty: neither.
	Problem string
	// Models that it lists, what is invisible in their names escaped; at most 1,000.
	Models []string
	// More: it lists more than those.
	More bool
}

const probeTime = 5 * time.Second

// Probe asks a provider for its models, for 5 s at most. Its key is not sent: who listens
// at the address now may be another than who it was made for. Providers that list their
// models only with a key are reachable and list none.
func Probe(ctx context.Context, p Provider) Reach {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	found, err := wire.Probe(ctx, p.Wire, p.BaseURL)
	switch {
	case err != nil && ctx.Err() != nil:
		return Reach{Problem: fmt.Sprintf("it did not answer within %s", probeTime)}
	case err != nil:
		return Reach{Problem: box.Cut(box.Visible(err.Error()), 200)}
	}
	out := Reach{Reachable: true, More: found.More}
	for _, m := range found.Models {
		out.Models = append(out.Models, box.Visible(box.Cut(m, 200)))
	}
	switch {
	case found.Status == http.StatusUnauthorized || found.Status == http.StatusForbidden:
		out.Problem = "it lists its models only with a key, which is not sent to ask"
	case found.Status >= 300 && found.Status < 400:
		out.Problem = "it redirects, which is not followed"
	case found.Status != http.StatusOK:
		out.Problem = fmt.Sprintf("it answered HTTP %d and lists no models", found.Status)
	case len(out.Models) == 0:
		out.Problem = "it lists no models"
	}
	return out
}

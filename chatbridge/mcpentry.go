package chatbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"engram/chatbridge/internal/remotetool"
)

// toolStartServer is what a call is named that asks whether a server may be started whose
// entry changed. No model can make it.
const toolStartServer = "start_mcp_server"

const (
	// The entry that a server was used with last, of which the environment is in the hash only.
	eqlEntry = `MERGE (e:MCPEntry {id: $id}) ON CREATE SET e.hash = $hash, e.entry = $entry, e.created_at = $now RETURN e.hash AS hash, e.entry AS entry`
	eqlTrust = `MATCH (e:MCPEntry {id: $id}) SET e.hash = $hash, e.entry = $entry, e.created_at = $now RETURN e.id AS id`
	eqlAsked = `MATCH (r:Run {id: $run}) MERGE (t:ToolCall {id: $id}) ON CREATE SET t.call_id = $call, t.name = $name, t.arguments = $arguments, t.position = 0, t.status = 'called', t.created_at = $now
MERGE (r)-[:CALLED]->(t) RETURN t.id AS id`
)

func entryID(m remotetool.Server) string { return "mcp-entry/" + m.Name }

// changedServer tells whether the entry of a server is another one than it was used with
// last, and what that was. One that was never used is as the operator wrote it.
func (b *Bridge) changedServer(ctx context.Context, m remotetool.Server) (changed bool, before string, err error) {
	row, err := b.one(ctx, "the entry of the MCP server "+m.Name, eqlEntry, map[string]any{"id": entryID(m), "hash": m.Hash(), "entry": MCPServer(m).String(), "now": b.o.Now()})
	if err != nil {
		return false, "", err
	}
	return text(row[0]) != m.Hash(), text(row[1]), nil
}

// askAboutServer suspends a run where the entry of a server changed, until a person has
// said whether it may be started as it is now.
func (b *Bridge) askAboutServer(ctx context.Context, s *state) error {
	if s.NoTools || s.remote != nil {
		return nil
	}
	for _, m := range b.mcp {
		if slices.Contains(s.Unstarted, m.Name) {
			continue
		}
		changed, before, err := b.changedServer(ctx, m)
		if err != nil {
			return err
		}
		if !changed {
			continue
		}
		if n := len(s.Used); n > 0 && s.Recorded > len(s.Results) && s.Used[n-1].Status == "approved" {
			s.Used[n-1].Status = "called" // what was approved was not with this server: it is shown anew
		}
		p := startOf(s, m, before)
		if _, err := b.one(ctx, "the question", eqlAsked, map[string]any{"run": s.ID, "id": s.ID + "/" + p.CallID, "call": p.CallID, "name": p.ToolName, "arguments": p.ToolInput, "now": b.o.Now()}); err != nil {
			return err
		}
		if s.Messages == nil { // what the run begins with is kept, as it would be after its first round
			if err := b.prepare(ctx, s); err != nil {
				return err
			}
			s.Messages = b.messages(&b.wires[0], s)
		}
		s.Pending = p
		return errSuspended
	}
	return nil
}

// startOf is the question whether a server may be started. Its digest covers the whole
// entry, also the values of its environment, which are not shown.
func startOf(s *state, m remotetool.Server, before string) *Pending {
	shown := fmt.Sprintf("start the MCP server %s, whose entry changed\n- %s\n+ %s", m.Name, before, MCPServer(m))
	if before == MCPServer(m).String() {
		shown += "\n(what changed is in its environment)"
	}
	sum := sha256.Sum256([]byte(m.Hash() + "\x00" + shown))
	digest := hex.EncodeToString(sum[:])
	return &Pending{
		CallID: "mcp-" + s.ID + "-" + m.Name + "-" + digest[:8], ToolName: toolStartServer, ToolInput: encoded(map[string]string{"server": m.Name}), Shown: shown, RiskTier: TierEscalate, Digest: digest,
	}
}

// startVerdict takes the answer about a server. Who approves has it started as it is now,
// until its entry changes again; otherwise the run goes on without it.
func (b *Bridge) startVerdict(ctx context.Context, s *state, a Answer) error {
	if a.Result != nil || len(a.Prefix) > 0 {
		return refuse("invalid", "whether an MCP server is started is approved or denied")
	}
	for _, m := range b.mcp {
		if s.Pending.ToolInput != encoded(map[string]string{"server": m.Name}) {
			continue
		}
		changed, before, err := b.changedServer(ctx, m)
		if err != nil {
			return err
		}
		now := startOf(s, m, before)
		switch {
		case !a.Approve:
			s.Unstarted = addOnce(s.Unstarted, m.Name)
		case changed && (now.Digest != s.Pending.Digest || a.Digest != "" && a.Digest != now.Digest):
			now.CallID = a.CallID
			s.Pending = now
			if _, err := b.o.Memory.Query(ctx, `MATCH (r:Run {id: $id}) SET r.state = $state`, map[string]any{"id": s.ID, "state": encoded(s)}); err != nil {
				return err
			}
			return refuse("changed", "the entry of the MCP server %s has changed since it was shown: look at it again", m.Name)
		case changed:
			if _, err := b.one(ctx, "the entry of the MCP server "+m.Name, eqlTrust, map[string]any{"id": entryID(m), "hash": m.Hash(), "entry": MCPServer(m).String(), "now": b.o.Now()}); err != nil {
				return err
			}
		}
	}
	status := "denied"
	if a.Approve {
		status = "approved"
	} else {
		s.Said = a.Words
	}
	id := s.ID + "/" + s.Pending.CallID
	s.Pending = nil
	_, err := b.o.Memory.Query(ctx, `MATCH (t:ToolCall {id: $id}) SET t.status = $status`, map[string]any{"id": id, "status": status})
	return err
}

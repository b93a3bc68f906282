package chatbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/wire"
)

// Tiers of risk.
const (
	TierRead       = "read"       // runs
	TierReversible = "reversible" // runs inside the workspace and in memory
	TierEscalate   = "escalate"   // always asks
)

// decision is what a call would do, and whether it may.
type decision struct {
	tool    *tool
	args    arguments
	tier    string
	shown   string // what will happen, whole
	dir     string
	digest  string // of everything that an approval covers
	problem string // why it cannot run at all
	guarded bool   // no rule covers it
	bound   string // hash of what else an approval or a rule covers; empty: of nothing
}

// decide looks at a call; nothing runs.
func (b *Bridge) decide(ctx context.Context, s *state, c wire.Call) decision {
	d := decision{tier: TierEscalate, shown: box.Visible(c.Arguments)}
	for _, t := range append(b.tools(), s.remoteTools()...) {
		if t.name == c.Name && !s.NoTools && !slices.Contains(s.Without, t.name) {
			d.tool = &t
		}
	}
	switch {
	case d.tool == nil:
		d.problem = fmt.Sprintf("There is no tool %s.", box.Visible(c.Name))
	case c.Problem != "":
		d.problem = "The call cannot run: " + c.Problem + "."
	default:
		var err error
		if d.args, err = decodeArguments(c.Arguments, d.tool.fields); err == nil {
			err = d.tool.look(ctx, b, &d)
		}
		if err != nil {
			d.problem = "The call cannot run: " + err.Error() + "."
		}
	}
	switch {
	case d.problem != "":
	case asksForVerdicts(c.Name, d.args):
		d.problem = "The call cannot run: " + verdictsRefused + ", which no tool reaches: see engramd verdict" + "."
	case s.planning() && d.tier != TierRead:
		d.problem = notYet
	}
	hash := sha256.New()
	for _, part := range []string{c.Name, c.Arguments, d.dir, d.shown, d.bound} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	d.digest = hex.EncodeToString(hash.Sum(nil))
	return d
}

func (d *decision) pending(id string, c wire.Call, narration string) *Pending {
	return &Pending{
		CallID: id, ToolName: box.Visible(c.Name), ToolInput: box.Visible(c.Arguments), Shown: d.shown, RiskTier: d.tier, Directory: d.dir,
		Digest: d.digest, Narration: narration,
	}
}

// asks tells whether a call needs consent that no rule has given.
func (b *Bridge) asks(ctx context.Context, s *state, c wire.Call, d *decision) (bool, error) {
	if !s.AskAll && d.tier != TierEscalate {
		return false, nil
	}
	if d.guarded {
		return true, nil
	}
	res, err := b.o.Memory.Read(ctx, eqlRules, map[string]any{"tool": c.Name, "conversation": s.Conversation})
	if err != nil {
		return false, err
	}
	for _, row := range res.Rows {
		if action := text(row[0]); action != "" && action == d.action(c.Name) {
			return false, nil
		}
		prefix, _ := row[1].([]any)
		if c.Name == "run_command" && covers(prefix, d.args.list("argv")) {
			return false, nil
		}
	}
	return true, nil
}

// covers tells whether a command begins as a person allowed it. What follows is data: with
// something that the program would take for an option, it asks, unless -- is part of what
// was allowed.
func covers(prefix []any, argv []string) bool {
	if len(prefix) == 0 || len(argv) < len(prefix) {
		return false
	}
	ended := false
	for i, p := range prefix {
		if text(p) != argv[i] {
			return false
		}
		ended = ended || argv[i] == "--"
	}
	return ended || !slices.ContainsFunc(argv[len(prefix):], func(a string) bool { return strings.HasPrefix(a, "-") })
}

// action is what a rule is about: the tool and exactly its arguments, wherever it works.
func (d *decision) action(name string) string {
	canonical, err := json.Marshal(d.args) // keys in order
	if err != nil {
		return ""
	}
	what := name + "\x00" + string(canonical) + "\x00" + d.dir
	if d.bound != "" {
		what += "\x00" + d.bound
	}
	sum := sha256.Sum256([]byte(what))
	return hex.EncodeToString(sum[:])
}

// remember keeps an approval as a rule.
func (b *Bridge) remember(ctx context.Context, s *state, d decision, a Answer) error {
	c := s.Calls[len(s.Results)]
	if d.guarded {
		return refuse("invalid", "calls like this one are asked for each time")
	}
	rule := map[string]any{
		"conversation": s.Conversation, "id": "rule-" + b.o.NewID(), "tool": c.Name, "action": d.action(c.Name), "prefix": []any{},
		"everywhere": a.Remember == "always", "now": b.o.Now(),
	}
	if len(a.Prefix) > 0 {
		argv := d.args.list("argv")
		if c.Name != "run_command" || !box.Prefixable(a.Prefix) || len(argv) < len(a.Prefix) || !slices.Equal(argv[:len(a.Prefix)], a.Prefix) {
			return refuse("invalid", "%s cannot be allowed by how it begins; it can be allowed as it is", strings.Join(a.Prefix, " "))
		}
		prefix := make([]any, len(a.Prefix))
		for i, p := range a.Prefix {
			prefix[i] = p
		}
		rule["action"], rule["prefix"] = "", prefix
	}
	_, err := b.o.Memory.Query(ctx, eqlRule, rule)
	return err
}

// perform answers the calls of the last reply in their order. Each is written down
// before anything comes of it.
func (b *Bridge) perform(ctx context.Context, run *Run, s *state) error {
	for len(s.Results) < len(s.Calls) {
		c := s.Calls[len(s.Results)]
		used, err := b.entry(ctx, run, s, c)
		if err != nil {
			return err
		}
		d := b.decide(ctx, s, c)
		if used.Status == "called" && d.problem == "" {
			ask, err := b.asks(ctx, s, c, &d)
			if err != nil {
				return err
			}
			if ask {
				s.Pending = d.pending(used.CallID, c, s.Narration)
				return errSuspended
			}
		}
		switch {
		case used.Status != "called" && used.Status != "approved":
		case d.problem != "":
			used.Status, used.Result = "failed", d.problem
		default:
			used.run(s.withOrigin(ctx), b, &d)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		used.Result = box.Cut(used.Result, cutResult)
		if err := b.answered(ctx, run, s, used); err != nil {
			return err
		}
		s.Results = append(s.Results, wire.Result{ID: c.ID, Content: used.Result, Failed: used.Status != "ok"})
	}
	if len(s.Calls) > 0 {
		s.Messages = append(s.Messages, b.provider(s).Results(s.Results)...)
		s.Calls, s.Results, s.Recorded = nil, nil, 0
	}
	return nil
}

// answered writes down what became of the last call, and tells it.
func (b *Bridge) answered(ctx context.Context, run *Run, s *state, used *Used) error {
	e := Event{Type: EventToolResult, Used: copyOf(used)}
	_, err := b.o.Memory.Query(ctx, eqlAnswered, map[string]any{"id": storedCall(s), "status": used.Status, "refused": refusedClass(used), "run": s.ID, "events": run.with(e)})
	if err == nil {
		run.emit(e)
	}
	return err
}

func (u *Used) run(ctx context.Context, b *Bridge, d *decision) {
	out, err := d.tool.run(ctx, b, d.args)
	u.Status, u.Result = "ok", out
	if err != nil {
		u.Status, u.Result = "failed", "The call failed: "+err.Error()
		if out != "" {
			u.Result += "\n" + out
		}
	}
	if u.Result == "" {
		u.Result = "It printed nothing."
	}
}

// entry is the record of the call that is next, made and written down where it is new.
func (b *Bridge) entry(ctx context.Context, run *Run, s *state, c wire.Call) (*Used, error) {
	if s.Recorded > len(s.Results) {
		return &s.Used[len(s.Used)-1], nil
	}
	row, err := b.one(ctx, "the call", eqlSeen, map[string]any{"conversation": s.Conversation, "call": c.ID})
	if err != nil {
		return nil, err
	}
	id := c.ID
	if n, _ := row[0].(int64); n > 0 { // some providers use an id again: an answer is to one call only
		id = fmt.Sprintf("%s#%d", c.ID, n+1)
	}
	s.Used = append(s.Used, Used{CallID: id, Name: c.Name, Arguments: c.Arguments, Status: "called"})
	s.Recorded = len(s.Results) + 1
	u := &s.Used[len(s.Used)-1]
	e := Event{Type: EventToolCall, Used: copyOf(u)}
	_, err = b.one(ctx, "the call", eqlCalled, map[string]any{
		"events": run.with(e),
		"run":    s.ID, "id": storedCall(s), "call": u.CallID, "issued": c.ID, "name": u.Name, "arguments": u.Arguments, "position": int64(len(s.Used)), "now": b.o.Now(),
	})
	run.emit(e)
	return u, err
}

// storedCall is the id of the node of the last call.
func storedCall(s *state) string { return fmt.Sprintf("%s/call/%d", s.ID, len(s.Used)) }

func copyOf(u *Used) *Used { c := *u; return &c }

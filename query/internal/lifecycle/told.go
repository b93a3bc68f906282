package lifecycle

import (
	"fmt"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/fault"
)

const aDateTime = "a DATETIME"

// kinds says what the properties may be by which memories are judged; others may be
// anything that can be stored.
var kinds = map[string]struct {
	ok   func(value.Value) bool
	want string
}{
	vocab.KeyImportance:   {share, "a number from 0 to 1"},
	vocab.KeyConfidence:   {share, "a number from 0 to 1"},
	vocab.KeyTier:         {tier, "'Working', 'Episodic' or 'Canonical'"},
	vocab.KeyLayer:        {layer, "the number or the name of a layer"},
	vocab.KeyStatus:       {standing, "'active', 'forgotten' or 'superseded'"},
	vocab.KeyTags:         {texts, "a list of STRINGs"},
	vocab.KeyOrigin:       {kind(value.KindString), "a STRING"},
	vocab.KeyConversation: {kind(value.KindString, value.KindInt), "a STRING or an INTEGER"},
	vocab.KeyCreatedAt:    {kind(value.KindDateTime), aDateTime},
	vocab.KeyValidFrom:    {kind(value.KindDateTime), aDateTime},
	vocab.KeyValidTo:      {kind(value.KindDateTime), aDateTime},
	vocab.KeyLastUsed:     {kind(value.KindDateTime), aDateTime},
	vocab.KeyUses:         {count0, "an INTEGER from 0"},
	vocab.KeyDecay:        {positive, "a number from 0"},
	vocab.KeyContent:      {kind(value.KindString), "a STRING"},
}

func kind(ks ...value.Kind) func(value.Value) bool {
	return func(v value.Value) bool {
		for _, k := range ks {
			if v.Kind() == k {
				return true
			}
		}
		return false
	}
}

func positive(v value.Value) bool { return v.IsNumber() && v.AsFloat() >= 0 }
func share(v value.Value) bool    { return positive(v) && v.AsFloat() <= 1 }
func count0(v value.Value) bool   { return v.Kind() == value.KindInt && v.AsInt() >= 0 }
func layer(v value.Value) bool    { return count0(v) || v.Kind() == value.KindString }

func tier(v value.Value) bool {
	_, ok := tiers[v.AsString()]
	return v.Kind() == value.KindString && ok
}

func standing(v value.Value) bool {
	s := v.AsString()
	return s == vocab.StatusActive || s == vocab.StatusForgotten || s == vocab.StatusSuperseded
}

func texts(v value.Value) bool {
	if v.Kind() != value.KindList {
		return false
	}
	for _, t := range v.AsList() {
		if t.Kind() != value.KindString {
			return false
		}
	}
	return true
}

// CheckProps tells which of a new memory's properties cannot be what it is.
func CheckProps(props []value.Prop) error {
	for _, p := range props {
		if k, known := kinds[p.Key]; known && !p.Value.IsNull() && !k.ok(p.Value) {
			err := fault.AtRuntime(fault.TypeError, "InvalidPropertyType", "the property %s of a memory is %s, not %s", p.Key, k.want, p.Value)
			if k.want == aDateTime {
				return err.WithHint("Write it as datetime('2026-01-15') or datetime('2026-01-15T10:30Z').")
			}
			return err
		}
	}
	return nil
}

// NoMemory reports whether a label says that a node is stored like a memory and is
// none.
func NoMemory(label string) bool { return label == vocab.LabelTelemetry || label == vocab.LabelVerdict }

// The headings of texts that are made of what was recalled.
var recalledHeadings = []string{"[LAYER 0 - STRUCTURAL]", "[ENGRAM CONTEXT]"}

// CheckText refuses texts that were put together from what was recalled: stored
// again, a memory would be evidence for itself.
func CheckText(text string) error {
	for _, h := range recalledHeadings {
		if strings.HasPrefix(strings.TrimSpace(text), h) {
			return refused("RecalledText", "a text that begins with %s was put together from memories, and is no new evidence", h).
				WithHint("Remember what was said about it, in its own words.")
		}
	}
	return nil
}

// Told is a memory that is to be stored.
type Told struct {
	Label        string
	Text         string
	Conversation value.Value
}

// says reports whether a node says the same: it carries the label, stands in the same
// conversation and has the same text.
func (t *Told) says(g access.Reader, id value.NodeID) (bool, error) {
	if !labelled(g, id, t.Label) {
		return false, nil
	}
	text, err := prop(g, id, vocab.KeyContent)
	if err != nil || !value.Equivalent(text, value.String(t.Text)) {
		return false, err
	}
	in, err := prop(g, id, vocab.KeyConversation)
	return err == nil && value.Equivalent(in, t.Conversation), err
}

// knownAsked is how many of the nodes that a text finds are compared with it.
const knownAsked = 50

// Known finds the memory that says the same, superseded ones left out: what they
// said ended, and may begin again. Told without a label, it may have one; one without
// comes first. 0 when there is none.
func (t *Told) Known(g access.Reader, byID value.Value) (value.NodeID, error) {
	found, err := g.NodesByID(byID, nil)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 && hasTerms(g, t.Text) { // it may be stored under another id
		hits, err := g.SearchText(t.Text, knownAsked, nil)
		if err != nil {
			return 0, err
		}
		for _, h := range hits {
			found = append(found, h.Node)
		}
	}
	var known value.NodeID
	for _, id := range found {
		same, err := t.says(g, id)
		if err != nil {
			return 0, err
		}
		now, err := status(g, id)
		if err != nil {
			return 0, err
		}
		if !same || now == vocab.StatusSuperseded {
			continue
		}
		if t.Label != vocab.LabelMemory || len(g.Labels(id, nil)) == 1 {
			return id, nil
		}
		if known == 0 {
			known = id
		}
	}
	return known, nil
}

// Holder finds the memory of a label that has an id; 0 when nothing has it. A node
// that is no memory of that label is an error.
func (t *Told) Holder(g access.Reader, id value.Value) (holder value.NodeID, same bool, err error) {
	found, err := g.NodesByID(id, nil)
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	text, err := content(g, found[0])
	if err != nil {
		return 0, false, err
	}
	if !labelled(g, found[0], t.Label) || text == "" {
		return 0, false, fault.AtRuntime(fault.ConstraintValidationFailed, "", "a node with id %s exists already, and it is no memory of the label %s", id, t.Label)
	}
	same, err = t.says(g, found[0])
	return found[0], same, err
}

// Displace gives a memory another id, so that a newer version of it can have its own.
func Displace(g Graph, old value.NodeID, id value.Value) error {
	next, err := FreeID(g, id)
	if err != nil {
		return err
	}
	return g.Set(value.NodeRef(old), "id", next)
}

func versionID(id value.Value, n int) value.Value {
	return value.String(fmt.Sprintf("%s~%d", plain(id), n))
}

func plain(id value.Value) string {
	if id.Kind() == value.KindString {
		return id.AsString()
	}
	return id.String()
}

// Replace lets a memory that was just stored supersede the version before it.
func Replace(g Graph, old, current value.NodeID) error {
	_, err := supersede(g, old, current)
	return err
}

// ToldAgain notes that a memory was told again: it comes back if it was forgotten,
// and it was of use, unless it was told from what was recalled.
func ToldAgain(g Graph, id value.NodeID, recalled bool) error {
	if recalled {
		return nil
	}
	if _, _, err := Restore(g, value.NodeRef(id)); err != nil {
		return err
	}
	g.Use(id, 1)
	return nil
}

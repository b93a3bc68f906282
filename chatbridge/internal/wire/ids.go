package wire

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// separate gives the calls of a reply ids of their own where the provider used one
// twice, also in the message that is echoed, of which only those ids change: a result
// answers one call.
func separate(r *Reply) error {
	calls := []*Call{}
	used := map[string]bool{}
	for i := range r.Blocks {
		if c := r.Blocks[i].Call; c != nil {
			calls = append(calls, c)
			used[c.ID] = true
		}
	}
	if len(used) == len(calls) {
		return nil
	}
	paths := callPaths(r.Message)
	if len(paths) != len(calls) {
		return &Error{Kind: Shape, Detail: "it used the id of a call twice"}
	}
	seen := map[string]bool{}
	for i, c := range calls {
		if !seen[c.ID] {
			seen[c.ID] = true
			continue
		}
		issued := c.ID
		for n := 2; used[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s-%d", issued, n)
		}
		used[c.ID], seen[c.ID] = true, true
		var err error
		if r.Message, err = sjson.SetBytes(r.Message, paths[i], c.ID); err != nil {
			return &Error{Kind: Shape, Detail: "it used the id of a call twice", Err: err}
		}
	}
	return nil
}

// callPaths are where the ids of calls stand in a message of either wire.
func callPaths(message []byte) []string {
	var out []string
	for i := range gjson.GetBytes(message, "tool_calls").Array() {
		out = append(out, fmt.Sprintf("tool_calls.%d.id", i))
	}
	if content := gjson.GetBytes(message, "content"); content.IsArray() {
		for i, block := range content.Array() {
			if block.Get("type").Str == "tool_use" {
				out = append(out, fmt.Sprintf("content.%d.id", i))
			}
		}
	}
	return out
}

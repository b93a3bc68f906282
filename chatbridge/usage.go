package chatbridge

import "engram/chatbridge/internal/wire"

// BySource are tokens of input by what they told a model. Providers bill a request as a
// whole: each part has the share of its bytes in that, and the parts are the whole.
type BySource struct {
	// System is the system prompt, but for what is told apart here.
	System int `json:"system"`
	// Memory is what was told of it as the conversation began, verdicts, and what the tools
	// for memory answered.
	Memory int `json:"memory"`
	// Files is what the tools for files answered.
	Files int `json:"files"`
	// Tools are the descriptions of those that were offered, and what others answered.
	Tools int `json:"tools"`
	// History is what was said, by people and by models, with the receipts of it.
	History int `json:"history"`
}

func (p *BySource) all() []*int { return []*int{&p.System, &p.Memory, &p.Files, &p.Tools, &p.History} }

func (p *BySource) sum() (n int) {
	for _, part := range p.all() {
		n += *part
	}
	return n
}

// add bills the parts of a request, which are bytes, as a number of tokens. What rounding
// leaves over is the largest part's.
func (p *BySource) add(bytes BySource, tokens int) {
	whole := bytes.sum()
	if whole == 0 {
		p.System += tokens
		return
	}
	left, largest := tokens, 0
	of, to := bytes.all(), p.all()
	for i, part := range of {
		n := int(int64(tokens) * int64(*part) / int64(whole))
		*to[i] += n
		left -= n
		if *part > *of[largest] {
			largest = i
		}
	}
	*to[largest] += left
}

// sources are the bytes of a request by what they tell.
func sources(s *state, r *wire.Request) BySource {
	p := BySource{Memory: s.Preload + s.told, System: len(r.System) - s.Preload - s.told - s.Receipts, History: s.Receipts}
	for _, m := range r.Messages {
		p.History += len(m)
	}
	for _, u := range s.Used {
		n := min(len(u.Result), p.History)
		p.History -= n
		*p.of(u.Name) += n
	}
	for _, t := range r.Tools {
		p.Tools += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return p
}

// of is the part that the answers of a tool are.
func (p *BySource) of(tool string) *int {
	switch tool {
	case "recall", "remember", "query", "link", "browse":
		return &p.Memory
	case "read_file", "list_dir", "search_files", "write_file", "edit_file":
		return &p.Files
	}
	return &p.Tools
}

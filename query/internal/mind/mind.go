// Package mind keeps the working memory of conversations: what ACTIVATE promoted.
// It is state of a process, not of the graph: nothing of it is stored, and it is
// empty after a restart.
package mind

import (
	"container/list"
	"sync"

	"engram/activation"
)

// maxConversations is how many conversations are kept; of more, those whose working
// memory was not touched for the longest time are forgotten.
const maxConversations = 1024

// Minds holds a working memory for each conversation. It is safe for concurrent use.
type Minds struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // latest first
}

type mind struct {
	conversation string
	memory       *activation.WorkingMemory
}

// New makes a Minds without any.
func New() *Minds { return &Minds{by: map[string]*list.Element{}} }

// With lets fn use the working memory of a conversation, which is made when there
// is none. Others wait until fn returns.
func (m *Minds) With(conversation string, fn func(*activation.WorkingMemory) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.by[conversation]
	if !ok {
		e = m.order.PushFront(&mind{conversation, activation.NewWorkingMemory(activation.DefaultRules())})
		m.by[conversation] = e
		if m.order.Len() > maxConversations {
			last := m.order.Back()
			m.order.Remove(last)
			delete(m.by, last.Value.(*mind).conversation)
		}
	}
	m.order.MoveToFront(e)
	return fn(e.Value.(*mind).memory)
}

// Look is With for reading: it makes no working memory, and fn gets nil where there
// is none.
func (m *Minds) Look(conversation string, fn func(*activation.WorkingMemory) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.by[conversation]; ok {
		return fn(e.Value.(*mind).memory)
	}
	return fn(nil)
}

// Each calls fn for every working memory, in no order that means anything. Others wait
// until it is done.
func (m *Minds) Each(fn func(*activation.WorkingMemory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.by {
		fn(e.Value.(*mind).memory)
	}
}

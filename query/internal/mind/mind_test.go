package mind_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"engram/activation"
	"engram/query/internal/mind"
)

func less(a, b activation.ID) bool { return a < b }

func held(t *testing.T, m *mind.Minds, conversation string) int {
	t.Helper()
	n := -1
	err := m.Look(conversation, func(w *activation.WorkingMemory) error {
		if w != nil {
			n = len(w.Items(less))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func reinforce(m *mind.Minds, conversation string, id activation.ID) error {
	return m.With(conversation, func(w *activation.WorkingMemory) error {
		w.Reinforce(id, .5, less)
		return nil
	})
}

func TestConversationsStayApart(t *testing.T) {
	m := mind.New()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 10 {
				if err := reinforce(m, fmt.Sprint(i), activation.ID(k)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if n := held(t, m, fmt.Sprint(i)); n != 10 {
			t.Errorf("conversation %d holds %d", i, n)
		}
	}
	if n := held(t, m, "unknown"); n != -1 {
		t.Errorf("looking made a working memory of %d", n)
	}
	bad := errors.New("no")
	if err := m.With("0", func(*activation.WorkingMemory) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheOldestConversationIsForgotten(t *testing.T) {
	m := mind.New()
	for i := range 1024 {
		if err := reinforce(m, fmt.Sprint(i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := reinforce(m, "0", 2); err != nil { // used again
		t.Fatal(err)
	}
	if err := reinforce(m, "new", 1); err != nil {
		t.Fatal(err)
	}
	if a, b, c := held(t, m, "0"), held(t, m, "1"), held(t, m, "new"); a != 2 || b != -1 || c != 1 {
		t.Errorf("0 holds %d, 1 holds %d, new holds %d; want 2, -1 (none), 1", a, b, c)
	}
}

package chatbridge

import "slices"

// watchers are those who are told of runs that begin, by conversation.
type watchers map[string][]*watcher

type watcher struct{ runs chan *Run }

// unread is how many runs may begin that a watcher did not take.
const unread = 16

// Watch tells of each run of a conversation that begins, or goes on after a suspension,
// from now on. The channel is closed when too many were not taken. Stop ends it.
func (b *Bridge) Watch(conversation string) (runs <-chan *Run, stop func()) {
	w := &watcher{make(chan *Run, unread)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch[conversation] = append(b.watch[conversation], w)
	return w.runs, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dropLocked(conversation, w)
	}
}

func (b *Bridge) dropLocked(conversation string, w *watcher) {
	left := slices.DeleteFunc(b.watch[conversation], func(o *watcher) bool { return o == w })
	if b.watch[conversation] = left; len(left) == 0 {
		delete(b.watch, conversation)
	}
}

func (b *Bridge) tellLocked(run *Run) {
	for _, w := range slices.Clone(b.watch[run.Conversation]) {
		select {
		case w.runs <- run:
		default:
			close(w.runs)
			b.dropLocked(run.Conversation, w)
		}
	}
}

package chatbridge

import "context"

// A program that is killed leaves its run running. Of it are kept all events up to the
// last call of a model or of a tool; what is missing are pieces of text, which are
// provisional. Its end is an event like any other, told as soon as nobody holds the
// conversation any more and written down by the message that comes next.
var interrupted = Failure{Kind: "interrupted", Text: "the program ended while it ran"}

// interruptedEvents are the events of a run that was cut off, with its end.
func interruptedEvents(events []Event) []Event {
	f := interrupted
	return append(events, (&Run{events: events}).next(Event{Type: EventError, Text: f.Text, Failure: &f}))
}

func wasInterrupted(e Event) bool { return e.Failure != nil && e.Failure.Kind == interrupted.Kind }

// endInterrupted ends a run that another process left behind.
func (b *Bridge) endInterrupted(ctx context.Context, run string) error {
	events, err := b.Events(ctx, run, 0)
	if err != nil {
		return err
	}
	_, err = b.o.Memory.Query(ctx, eqlInterrupted, map[string]any{"id": run, "failure": interrupted.Kind + ": " + interrupted.Text, "events": encoded(interruptedEvents(events))})
	return err
}

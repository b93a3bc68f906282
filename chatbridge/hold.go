package chatbridge

import (
	"context"
	"errors"
	"time"
)

// holdTime is how long a conversation stays a process's that is not heard of any more.
const holdTime = 30 * time.Second

// A conversation is held by the run that goes on in it, by the clock of the database, so
// that of several processes on one memory only one runs it.
const (
	eqlHold = `MATCH (c:Conversation {id: $id}) WHERE c.holder IS NULL OR c.held_until < timestamp()
SET c.holder = $run, c.held_until = timestamp() + $hold RETURN c.id AS id`
	eqlHolds = `MATCH (c:Conversation {id: $id}) WHERE c.holder = $run SET c.held_until = timestamp() + $hold RETURN c.id AS id`
	eqlHeld  = `MATCH (c:Conversation {id: $id}) WHERE c.holder IS NOT NULL AND c.held_until >= timestamp() RETURN c.id AS id`
	eqlLetGo = `MATCH (c:Conversation {id: $id}) WHERE c.holder = $run REMOVE c.holder, c.held_until`
)

var errTaken = errors.New("another process has taken the conversation")

func (b *Bridge) holdParams(run *Run) map[string]any {
	return map[string]any{"id": run.Conversation, "run": run.ID, "hold": b.hold.Milliseconds()}
}

// holdConversation makes a conversation this run's among all processes. One that does not exist is
// nobody's.
func (b *Bridge) holdConversation(ctx context.Context, run *Run) error {
	res, err := b.o.Memory.Query(ctx, eqlHold, b.holdParams(run))
	if err != nil {
		return err
	}
	if len(res.Rows) > 0 {
		run.held = true
		return nil
	}
	return b.heldByOther(ctx, run.Conversation)
}

func (b *Bridge) heldByOther(ctx context.Context, conversation string) error {
	res, err := b.o.Memory.Read(ctx, eqlHeld, map[string]any{"id": conversation})
	if err == nil && len(res.Rows) > 0 {
		err = refuse("busy", "this conversation is still answering in another process; wait, or cancel it there (one that was killed keeps it for %s)", b.hold)
	}
	return err
}

// letGo gives a conversation back that the end of the run did not give back.
func (b *Bridge) letGo(run *Run) {
	if !run.held {
		return
	}
	ctx, cancel := afterwards(run.ctx)
	defer cancel()
	if _, err := b.o.Memory.Query(ctx, eqlLetGo, map[string]any{"id": run.Conversation, "run": run.ID}); err != nil {
		b.o.Log.Warn("a conversation was not given back and stays taken for a while", "run", run.ID)
	}
	run.held = false
}

// keepHold renews the hold of a run until stop, which waits for that. A run that has
// lost it, or cannot tell, is cancelled.
func (b *Bridge) keepHold(run *Run) (stop func()) {
	ctx, cancel := context.WithCancel(run.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(b.hold / 3)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			res, err := b.o.Memory.Query(ctx, eqlHolds, b.holdParams(run))
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && len(res.Rows) > 0:
				last = time.Now()
			case err == nil || time.Since(last) >= b.hold:
				run.cancel(errTaken)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

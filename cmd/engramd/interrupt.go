package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts is where Ctrl-C goes: to whoever has taken it, else it ends the program.
type interrupts struct {
	mu    sync.Mutex
	taken func()
}

type interruptsKey struct{}

// withInterrupts is the context of the program, which ends with SIGTERM, and with
// Ctrl-C where nobody has taken it.
func withInterrupts(parent context.Context) (ctx context.Context, stop func()) {
	i := &interrupts{}
	ctx, cancel := context.WithCancel(context.WithValue(parent, interruptsKey{}, i))
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with stop
		for s := range signals {
			if s != os.Interrupt || !i.call() {
				cancel()
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel() }
}

func (i *interrupts) call() bool {
	i.mu.Lock()
	f := i.taken
	i.mu.Unlock()
	if f == nil {
		return false
	}
	f()
	return true
}

// takeInterrupts gives Ctrl-C to f, which must not block, until release.
func takeInterrupts(ctx context.Context, f func()) (release func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok {
		return func() {}
	}
	set := func(f func()) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.taken = f
	}
	set(f)
	return func() { set(nil) }
}

// signalContext is a context that ends also with a signal, unless that was ignored when
// the program began, as nohup does.
func signalContext(parent context.Context, s os.Signal) (context.Context, context.CancelFunc) {
	if signal.Ignored(s) {
		return context.WithCancel(parent)
	}
	return signal.NotifyContext(parent, s)
}

// Package chatbridge is chat with agents that remember: a loop of model and tools that
// is a client of the engine. Everything it knows of memory goes through EQL on a
// Querier; everything it does is consented to, bounded, recorded and can be resumed.
//
//	bridge, err := chatbridge.New(chatbridge.Options{Memory: memory, Providers: providers, Workspace: dir})
//	if err != nil {
//		return err
//	}
//	defer bridge.Close(ctx)
//	run, err := bridge.Send(ctx, chatbridge.Message{Text: "What is in the notes folder?"})
//	if err != nil {
//		return err
//	}
//	out, err := run.Wait(ctx)
//	if out.Pending != nil { // a call waits for consent
//		run, err = bridge.Answer(ctx, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: true})
//	}
package chatbridge

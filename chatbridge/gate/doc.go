// Package gate is a scripted model provider: it answers as a scenario says, on both
// wires that chatbridge speaks (Anthropic Messages and OpenAI Chat Completions),
// streaming and not, the same every time. It checks each request strictly and keeps
// a log of what it really delivered, so that an agent loop can be tested against
// the truth instead of against what it says about itself.
//
//	script, err := gate.ParseScenario([]byte(`{"scenarios": [
//		{"marker": "GATE-HELLO", "steps": [{"text": "Hello."}]}]}`))
//	if err != nil {
//		return err
//	}
//	g := gate.New(script, nil)
//	http.ListenAndServe("127.0.0.1:8099", g)
package gate

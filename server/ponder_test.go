package server_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram/server"
)

// TestHeartbeat: the goroutine of a heartbeat thinks about what is loaded, and the
// report is read by HTTP and counted. Without a heartbeat there is no report.
func TestHeartbeat(t *testing.T) {
	off := start(t)
	if a := off.must("GET", "/v1/idle", ""); strings.TrimSpace(a.body) != `{"namespace":"default","heartbeat":0}` {
		t.Errorf("without a heartbeat: %s", a.body)
	}
	h := start(t, func(c *server.Config) { c.Heartbeat = time.Millisecond })
	h.eql("CREATE (:Memory {id: 'unsure', content: 'Bob moved away', confidence: 0.1})")
	var a answer
	for range 10_000 {
		if a = h.must("GET", "/v1/idle", ""); strings.Contains(a.body, "unsure") {
			break
		}
	}
	want := `{"kind":"question","producer":"doubts","nodes":["unsure"],"text":"Is this true? “Bob moved away” (confidence 0.10)"}`
	if !strings.Contains(a.body, want) || a.json["heartbeat"] != 0.001 {
		t.Fatalf("the report: %s", a.body)
	}
	if m := h.must("GET", "/metrics", ""); !strings.Contains(m.body, `engram_idle_beats_total{outcome="found",producer="doubts"}`) {
		t.Error("beats are not counted")
	}
}

// TestHeartbeatLoadsNothing: thinking neither loads a namespace nor keeps one loaded,
// and what was dropped is forgotten.
func TestHeartbeatLoadsNothing(t *testing.T) {
	var passed atomic.Int64 // seconds
	now := func() time.Time { return time.Unix(1_800_000_000+passed.Load(), 0) }
	h := startWith(t, server.RegistryOptions{Idle: time.Minute, Now: now}, func(c *server.Config) { c.Heartbeat = time.Hour })
	h.must("POST", "/v1/namespaces", `{"name":"notes"}`)
	h.must("POST", "/v1/namespaces", `{"name":"other"}`)
	h.must("POST", "/v1/query?namespace=notes", `{"statement":"CREATE (:Memory {id: 'unsure', content: 'x', confidence: 0.1})"}`)
	h.registry.UnloadIdle()
	loaded := h.registry.Loaded()
	h.server.Beat(t.Context())
	if n := h.registry.Loaded(); n != loaded {
		t.Errorf("%d namespaces are loaded after a beat, %d before", n, loaded)
	}
	passed.Add(59)
	h.server.Beat(t.Context())
	passed.Add(1)
	h.registry.UnloadIdle()
	if n := h.registry.Loaded(); n != 0 {
		t.Errorf("%d namespaces are kept loaded by beats", n)
	}
	if a := h.must("GET", "/v1/idle?namespace=notes", ""); !strings.Contains(a.body, `"unsure"`) {
		t.Errorf("the report of a namespace that was unloaded since: %s", a.body)
	}
	if a := h.must("GET", "/v1/idle?namespace=other", ""); strings.Contains(a.body, "report") {
		t.Errorf("a namespace that was never loaded was thought about: %s", a.body)
	}
	passed.Add(60)
	h.registry.UnloadIdle()
	h.must("DELETE", "/v1/namespaces/notes", "")
	h.must("POST", "/v1/namespaces", `{"name":"notes"}`)
	if a := h.must("GET", "/v1/idle?namespace=notes", ""); strings.Contains(a.body, "unsure") {
		t.Errorf("the report of a namespace that was dropped: %s", a.body)
	}
}

package server_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
	"engram/server"
)

// TestStatsTellWhoAnswersChats holds that provider, model, address and where each comes
// from are told, and no key.
func TestStatsTellWhoAnswersChats(t *testing.T) {
	h := start(t, func(c *server.Config) {
		c.Chat.Providers = []chatbridge.Provider{{Name: "near", Wire: "openai", BaseURL: "http://127.0.0.1:1/v1", Model: "m", Key: "canary"}, {Name: "far", Wire: "anthropic", BaseURL: "https://api.example", Model: "n"}}
		c.ChatSettings = []chatbridge.Setting{{Name: "near model", Value: "m", Origin: "environment"}, {Name: "near key", Value: "set", Origin: "environment"}}
	})
	a := h.must("GET", "/v1/stats", "")
	want := `{"providers":[{"base_url":"http://127.0.0.1:1/v1","model":"m","name":"near","wire":"openai"},{"base_url":"https://api.example","model":"n","name":"far","wire":"anthropic"}],` +
		`"settings":[{"name":"near model","origin":"environment","value":"m"},{"name":"near key","origin":"environment","value":"set"}]}`
	if got := toJSON(a.json["chat"]); got != want || strings.Contains(string(a.body), "canary") {
		t.Errorf("%s, want %s", a.body, want)
	}
	if got := toJSON(start(t).must("GET", "/v1/stats", "").json["chat"]); got != `{"providers":[],"settings":[]}` {
		t.Errorf("without a model: %s", got)
	}
}

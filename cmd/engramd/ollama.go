package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"engram/chatbridge"
)

// ollamaBase is where Ollama listens.
const ollamaBase = "http://127.0.0.1:11434"

// findOllama asks Ollama on this machine for a model that talks. Nothing is sent but the
// question, by no proxy and to no other address.
func findOllama(ctx context.Context, base string) ([]chatbridge.Provider, []chatbridge.Setting) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/models", nil)
	if err != nil {
		return nil, nil
	}
	res, err := (&http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}).Do(req)
	if err != nil {
		return nil, nil
	}
	defer res.Body.Close()
	var models struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&models) != nil {
		return nil, nil
	}
	const origin = "found on this machine"
	for _, m := range models.Data {
		if m.ID == "" || strings.Contains(m.ID, "embed") { // models of vectors do not talk
			continue
		}
		return []chatbridge.Provider{{Name: "ollama", Wire: "openai", BaseURL: base, Model: m.ID}}, []chatbridge.Setting{
			{Name: "provider", Value: "ollama", Origin: origin}, {Name: "ollama base-url", Value: base, Origin: "default"}, {Name: "ollama model", Value: m.ID, Origin: origin},
		}
	}
	return nil, nil
}

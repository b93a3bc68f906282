package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/chatbridge"
)

func layer(origin string, pairs ...string) chatbridge.Layer {
	return chatbridge.Layer{Origin: origin, Get: func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}}
}

func TestResolve(t *testing.T) {
	flags := layer("flag", "model", "big", "provider", "")
	env := layer("env", "provider", "anthropic, ollama", "model", "small", "key", "secret", "ollama-model", "llama", "base-url", "  ")
	chain, settings, err := chatbridge.Resolve([]chatbridge.Layer{flags, env})
	want := "[{anthropic anthropic https://api.anthropic.com big secret 0s} {ollama openai http://127.0.0.1:11434/v1 llama  0s}]"
	if err != nil || fmt.Sprint(chain) != want {
		t.Errorf("chain %v, error %v", chain, err)
	}
	if got := fmt.Sprint(settings); strings.Contains(got, "secret") || !strings.Contains(got, "{anthropic model big flag}") || !strings.Contains(got, "{anthropic key set env}") ||
		!strings.Contains(got, "{anthropic base-url https://api.anthropic.com default}") {
		t.Errorf("settings %s", got)
	}
	if chain, _, err := chatbridge.Resolve([]chatbridge.Layer{layer("flag"), layer("env", "provider", "")}); chain != nil || err != nil {
		t.Errorf("nothing configured: %v, error %v", chain, err)
	}
}

// TestS62KeyIsForItsHost holds that another address does not get a stored key.
func TestS62KeyIsForItsHost(t *testing.T) {
	env := layer("env", "provider", "openai", "model", "m", "key", "secret")
	chain, settings, err := chatbridge.Resolve([]chatbridge.Layer{layer("flag", "base-url", "https://evil.example/v1"), env})
	if err != nil || chain[0].Key != "" || !strings.Contains(fmt.Sprint(settings), "not used: it is for https://api.openai.com/v1") {
		t.Errorf("%v %v, error %v", chain, settings, err)
	}
	chain, _, err = chatbridge.Resolve([]chatbridge.Layer{layer("flag", "base-url", "https://mine.example/v1", "key", "k"), env})
	if err != nil || chain[0].Key != "k" {
		t.Errorf("%v, error %v", chain, err)
	}
}

func TestResolveErrors(t *testing.T) {
	for want, l := range map[string]chatbridge.Layer{
		"needs a model": layer("env", "provider", "openai"), "is not known": layer("env", "provider", "smoke", "model", "m"), "a name of its own": layer("env", "provider", "openai,openai", "model", "m"),
	} {
		if _, _, err := chatbridge.Resolve([]chatbridge.Layer{l}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, error %v", want, err)
		}
	}
	chain, _, err := chatbridge.Resolve([]chatbridge.Layer{layer("env", "base-url", "http://127.0.0.1:8000", "model", "m")})
	if err != nil || chain[0].Name != "custom" || chain[0].Wire != "openai" {
		t.Errorf("%v, error %v", chain, err)
	}
}

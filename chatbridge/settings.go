package chatbridge

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is one place that settings come from, such as flags or the environment.
type Layer struct {
	// Origin says for people where that is.
	Origin string
	// Get is the value of a setting, empty where there is none: provider, wire,
	// base-url, model, key, or one of the last four with a provider's name before it, such
	// as ollama-model.
	Get func(name string) string
}

// Setting is one effective value and where it comes from. A key is never shown.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// preset is what is known of a provider.
type preset struct{ wire, base, model, key string }

var presets = map[string]preset{
	"anthropic": {"anthropic", "https://api.anthropic.com", "", "anthropic"},
	"openai":    {"openai", "https://api.openai.com/v1", "", "openai"},
	"ollama":    {"openai", "http://127.0.0.1:11434/v1", "", ""},
	"groq":      {"openai", "https://api.groq.com/openai/v1", "", ""},
	"grok":      {"openai", "https://api.x.ai/v1", "", ""},
	"gemini":    {"openai", "https://generativelanguage.googleapis.com/v1beta/openai", "", ""},
}

// Resolve makes the chain of providers of the layers, the first layer that has a value
// giving it. provider lists names, separated by commas; settings without a provider's
// name before them are the first one's. A key is used only where the layers from its
// own on lead to the same address: a request to elsewhere does not carry it.
func Resolve(layers []Layer) ([]Provider, []Setting, error) {
	names, origin := lookup(layers, "provider")
	if names == "" {
		if base, _ := lookup(layers, "base-url"); base == "" {
			return nil, nil, nil
		}
		names, origin = "custom", "default"
	}
	var chain []Provider
	settings := []Setting{{"provider", names, origin}}
	for i, name := range strings.Split(names, ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.ContainsFunc(chain, func(p Provider) bool { return p.Name == name }) {
			return nil, nil, fmt.Errorf("the providers %q: each one has a name of its own", names)
		}
		p, s, err := resolveOne(layers, name, i == 0)
		if err != nil {
			return nil, nil, err
		}
		chain, settings = append(chain, p), append(settings, s...)
	}
	return chain, settings, nil
}

func lookup(layers []Layer, names ...string) (value, origin string) {
	for _, l := range layers {
		for _, n := range names {
			if v := strings.TrimSpace(l.Get(n)); v != "" {
				return v, l.Origin
			}
		}
	}
	return "", ""
}

func resolveOne(layers []Layer, name string, first bool) (Provider, []Setting, error) {
	known, isKnown := presets[name]
	p := Provider{Name: name}
	var settings []Setting
	get := func(from []Layer, what, otherwise string) (string, string) {
		names := []string{name + "-" + what}
		if first {
			names = append(names, what)
		}
		if v, origin := lookup(from, names...); v != "" {
			return v, origin
		}
		return otherwise, "default"
	}
	set := func(target *string, what, otherwise string) {
		var origin string
		if *target, origin = get(layers, what, otherwise); *target != "" {
			settings = append(settings, Setting{name + " " + what, *target, origin})
		}
	}
	set(&p.BaseURL, "base-url", known.base)
	if !isKnown {
		known.wire = "openai"
	}
	set(&p.Wire, "wire", known.wire)
	set(&p.Model, "model", known.model)
	switch {
	case p.BaseURL == "":
		return p, nil, fmt.Errorf("the provider %s is not known: give its base URL, or one of anthropic, gemini, grok, groq, ollama, openai", name)
	case p.Model == "":
		return p, nil, fmt.Errorf("the provider %s needs a model", name)
	}
	for i, l := range layers {
		key, origin := get([]Layer{l}, "key", "")
		if key == "" {
			continue
		}
		if base, _ := get(layers[i:], "base-url", known.base); base != p.BaseURL {
			settings = append(settings, Setting{name + " key", "not used: it is for " + base, origin})
			continue
		}
		p.Key = key
		settings = append(settings, Setting{name + " key", "set", origin})
		break
	}
	return p, settings, nil
}

package main

import (
	"encoding/json"
	"strings"
	"sync"

	"engram/chatbridge"
)

type modelsCommand struct {
	llmFlags
	JSON bool `help:"Print JSON."`
}

// Help is shown by --help.
func (modelsCommand) Help() string {
	return `Shows the providers that answer chats in the order they are tried: model, address, where each setting comes from, whether the
address answers, and the models that it lists. Only the addresses that are configured are asked (without any, Ollama on this machine),
and none is told a key: some list their models only to who has one.

Examples:
  engramd models
  engramd models --provider ollama,anthropic --json`
}

// providerShown is a provider as it is printed.
type providerShown struct {
	Name      string         `json:"name"`
	Wire      string         `json:"wire"`
	Model     string         `json:"model"`
	BaseURL   string         `json:"base_url"`
	Key       bool           `json:"key"`
	Settings  []settingShown `json:"settings"`
	Reachable bool           `json:"reachable"`
	Problem   string         `json:"problem,omitempty"`
	Models    []string       `json:"models"`
	More      bool           `json:"more,omitempty"`
}

type settingShown struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func (c *modelsCommand) Run(a *app) error {
	options, settings, err := c.options(a.ctx, true)
	if err != nil {
		return err
	}
	shown := make([]providerShown, len(options.Providers))
	var wg sync.WaitGroup
	for i, p := range options.Providers {
		wg.Go(func() {
			reach := chatbridge.Probe(a.ctx, p)
			shown[i] = providerShown{
				Name: p.Name, Wire: p.Wire, Model: p.Model, BaseURL: p.BaseURL, Key: p.Key != "", Settings: settingsOf(settings, p),
				Reachable: reach.Reachable, Problem: reach.Problem, Models: append([]string{}, reach.Models...), More: reach.More,
			}
		})
	}
	wg.Wait()
	if c.JSON {
		e := json.NewEncoder(a.out)
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			Providers []providerShown `json:"providers"`
		}{shown})
	}
	if len(shown) == 0 {
		a.printf("No model is configured and no Ollama answers: memory alone answers.\n")
	}
	for i, p := range shown {
		a.printProvider(i, p)
	}
	return a.ctx.Err()
}

// settingsOf are the settings of one provider.
func settingsOf(all []chatbridge.Setting, p chatbridge.Provider) []settingShown {
	out := []settingShown{}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Name, p.Name+" "); ok {
			out = append(out, settingShown{name, s.Value, s.Origin})
		}
	}
	if len(all) == 0 { // Ollama, which was looked for
		const found = "found on this machine"
		out = append(out, settingShown{"base-url", p.BaseURL, found}, settingShown{"wire", p.Wire, found}, settingShown{"model", p.Model, found})
	}
	return out
}

func (a *app) printProvider(i int, p providerShown) {
	a.printf("%d. %s\n", i+1, visible(p.Name))
	for _, s := range p.Settings {
		a.printf("   %-9s %s (%s)\n", s.Name, visible(s.Value), s.Origin)
	}
	reached := "cannot be reached"
	if p.Reachable {
		reached = "is reachable"
	}
	if p.Problem != "" {
		reached += ": " + p.Problem
	}
	a.printf("   %s\n", reached)
	for _, m := range p.Models {
		mark := "  "
		if m == p.Model {
			mark = "* "
		}
		a.printf("   %s%s\n", mark, m)
	}
	if p.More {
		a.printf("   there are more\n")
	}
}

package main

import (
	"context"
	"os"
	"strings"

	"engram/chatbridge"
)

// llmFlags say which models answer chats and what they may work on.
type llmFlags struct {
	Provider   string `help:"Model providers in the order they are tried: anthropic, openai, gemini, grok, groq, ollama, or a name of yours with --base-url. Several with commas." env:"ENGRAM_LLM_PROVIDER" placeholder:"NAME"`
	Model      string `help:"Model of the first provider; ENGRAM_LLM_NAME_MODEL is that of another one." env:"ENGRAM_LLM_MODEL" placeholder:"MODEL"`
	BaseURL    string `name:"base-url" help:"Address of the first provider, with /v1 at its end or without." env:"ENGRAM_LLM_BASE_URL" placeholder:"URL"`
	Wire       string `help:"What the first provider speaks: anthropic or openai." enum:",anthropic,openai" default:"" env:"ENGRAM_LLM_WIRE" placeholder:"WIRE"`
	Workspace  string `help:"Folder of the tools for files and commands; without it they are not offered." placeholder:"DIR"`
	MCP        string `name:"mcp-servers" help:"MCP servers whose tools the model may call, in the configuration file: name → command or url, env, and tools, the names of those that may be used." placeholder:"JSON"`
	Phrases    string `help:"Phrase file that distress is told by; without it the one that is built in." env:"ENGRAM_PHRASES" placeholder:"FILE"`
	Replies    string `help:"Rule file that replies of models have to keep to; without it the one that is built in." env:"ENGRAM_REPLIES" placeholder:"FILE"`
	Continuity string `help:"File that the status and the register of a conversation are told by; without it the one that is built in." env:"ENGRAM_CONTINUITY" placeholder:"FILE"`
	Steward    string `help:"File of what the model is told of missions, joy and distress, and that good news is told by; without it the one that is built in." env:"ENGRAM_STEWARD" placeholder:"FILE"`
}

// options are what a bridge is made of, without its memory, and where the settings of
// the providers come from. With look, Ollama on this machine is looked for where no
// provider is given.
func (c *llmFlags) options(ctx context.Context, look bool) (chatbridge.Options, []chatbridge.Setting, error) {
	o := chatbridge.Options{Workspace: c.Workspace}
	providers, settings, err := chatbridge.Resolve(c.layers())
	if err != nil {
		return o, nil, &usageError{err}
	}
	if c.MCP != "" {
		if o.MCP, err = chatbridge.ParseMCPServers([]byte(c.MCP)); err != nil {
			return o, nil, &usageError{err}
		}
		for _, m := range o.MCP {
			settings = append(settings, chatbridge.Setting{Name: "MCP server " + m.Name, Value: m.String(), Origin: "flag or configuration file"})
		}
	}
	if len(providers) == 0 && look {
		providers, settings = findOllama(ctx, ollamaBase)
	}
	o.Providers = providers
	for _, f := range []struct {
		path string
		into *[]byte
	}{{c.Phrases, &o.Phrases}, {c.Replies, &o.Validation}, {c.Continuity, &o.Continuity}, {c.Steward, &o.Steward}} {
		if f.path == "" {
			continue
		}
		if *f.into, err = os.ReadFile(f.path); err != nil {
			*f.into = []byte{} // chat refuses then, and tells why
		}
	}
	return o, settings, nil
}

// layers are where the settings of providers come from.
func (c *llmFlags) layers() []chatbridge.Layer {
	flags := map[string]string{"provider": c.Provider, "model": c.Model, "base-url": c.BaseURL, "wire": c.Wire}
	env := func(name string) string {
		return os.Getenv("ENGRAM_LLM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	return []chatbridge.Layer{
		{Origin: "flag or configuration file", Get: func(name string) string {
			if v := flags[name]; v != env(name) {
				return v
			}
			return ""
		}},
		{Origin: "environment", Get: env},
		{Origin: "environment", Get: func(name string) string {
			switch name {
			case "anthropic-key":
				return os.Getenv("ANTHROPIC_API_KEY")
			case "openai-key":
				return os.Getenv("OPENAI_API_KEY")
			}
			return ""
		}},
	}
}

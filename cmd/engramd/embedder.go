package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"engram"
	"engram/server"
)

// embedderFlags say who makes the vectors by which texts of similar meaning are
// found.
type embedderFlags struct {
	Embedder      string `help:"Who makes vectors of texts: builtin, openai, ollama or none; by default builtin. See engramd help embedder." group:"Meaning:" env:"ENGRAM_EMBEDDER" placeholder:"NAME"`
	EmbedderURL   string `help:"Where the API of openai or ollama begins; by default the usual address." group:"Meaning:" env:"ENGRAM_EMBEDDER_URL" placeholder:"URL"`
	EmbedderModel string `help:"The model that it is asked for." group:"Meaning:" env:"ENGRAM_EMBEDDER_MODEL" placeholder:"MODEL"`
	EmbedderDim   int    `help:"How many dimensions its vectors have." group:"Meaning:" env:"ENGRAM_EMBEDDER_DIM" placeholder:"N"`
}

// embedderKey is where the key of an endpoint comes from: never from a flag or a
// file, which others can read.
const embedderKey = "ENGRAM_EMBEDDER_KEY"

var embedders = []string{"builtin", "openai", "ollama", "none"}

// embedding checks the flags. The key is read by getenv.
func (f *embedderFlags) embedding(getenv func(string) string) (engram.Embedding, error) {
	e := engram.Embedding{Provider: f.Embedder, URL: f.EmbedderURL, Model: f.EmbedderModel, Dim: f.EmbedderDim}
	refuse := func(format string, args ...any) (engram.Embedding, error) {
		return engram.Embedding{}, &usageError{fmt.Errorf(format, args...)}
	}
	switch {
	case e.Provider != "" && !slices.Contains(embedders, e.Provider):
		return refuse("--embedder %s: there are %s", e.Provider, strings.Join(embedders, ", "))
	case e.Provider != "openai" && e.Provider != "ollama":
		if e.URL+e.Model != "" || e.Dim != 0 {
			return refuse("--embedder-url, --embedder-model and --embedder-dim go with --embedder openai or ollama")
		}
		return e, nil
	case e.Model == "":
		return refuse("--embedder %s needs --embedder-model, such as nomic-embed-text", e.Provider)
	case e.Dim <= 0:
		return refuse("--embedder %s needs --embedder-dim, the dimensions of the model's vectors, such as 768", e.Provider)
	}
	e.Key = getenv(embedderKey)
	if u, err := url.Parse(e.URL); err == nil && e.Key != "" && u.Scheme == "http" && !thisMachine(u.Hostname()) {
		return engram.Embedding{}, &refusedError{fmt.Sprintf("refused to send the key in %s to %s in the clear: use https, or unset it", embedderKey, u.Hostname())}
	}
	return e, nil
}

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// endpoint reports whether vectors come from another process.
func (a *app) endpoint() bool {
	return a.embedding.Provider == "openai" || a.embedding.Provider == "ollama"
}

// registryOptions completes options with what the command line says for all
// databases.
func (a *app) registryOptions(o server.RegistryOptions) server.RegistryOptions {
	own := engram.Options{}
	if o.Database != nil {
		own = *o.Database
	}
	own.Embedding, own.Now = a.embedding, clock
	o.Database = &own
	return o
}

// embedRest asks the endpoint for the vectors of texts that a command has just
// written, since the process ends before it would. What is refused waits, which is
// said.
func (a *app) embedRest(db *engram.DB) {
	if !a.endpoint() || a.ctx.Err() != nil {
		return
	}
	_, err := db.Query(a.ctx, "CALL embed.backfill($all)", map[string]any{"all": int64(1) << 31})
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(a.err, "note: texts wait for their vectors, for CALL embed.backfill() or a server: %v\n", err)
	}
}

// tellNotices tells what the user should know of a statement that they did not type,
// which is that it went without meaning, and nothing of its words.
func (a *app) tellNotices(res *engram.Result) {
	for _, n := range res.Notices {
		if n.Code == "EmbedderUnavailable" {
			fmt.Fprintf(a.err, "note: %s\n", n.Message)
		}
	}
	res.Notices = nil
}

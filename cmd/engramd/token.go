package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"engram"
	"engram/server/token"

	"github.com/jedib0t/go-pretty/v6/table"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make a named token and print it: it is shown once."`
	List   tokenList   `cmd:"" help:"List the named tokens."`
	Revoke tokenRevoke `cmd:"" help:"End a named token."`
	Login  tokenLogin  `cmd:"" help:"Print a code by which a browser logs in at the running server, once."`
	Rotate tokenRotate `cmd:"" help:"Replace the token that may do everything."`
}

// Help is shown by --help.
func (tokenCommand) Help() string {
	return `A running server takes changes at once, and closes what was opened by a token that ended within seconds.

Examples:
  engramd token create notes --scope read,write
  engramd token create dashboard --scope read --only default --expires 720h
  engramd token list
  engramd token login
  engramd token revoke notes`
}

type tokenCreate struct {
	Name    string        `arg:"" help:"Its name."`
	Scope   []string      `help:"What it allows: read, write, chat, run-commands, admin. Repeatable, or with commas." required:"" placeholder:"SCOPE,..." complete:"read,write,chat,run-commands,admin"`
	Only    []string      `help:"A namespace it is for; without it all. Repeatable." placeholder:"NAMESPACE" sep:"none"`
	Expires time.Duration `help:"How long it works, such as 720h; without it, until it is revoked." placeholder:"DURATION"`
}

func (c *tokenCreate) Run(a *app) error {
	scopes, err := token.ParseScopes(c.Scope...)
	if err != nil {
		return &usageError{err}
	}
	for _, n := range c.Only {
		if err := engram.CheckNamespace(n); err != nil {
			return &usageError{err}
		}
	}
	spec := token.Spec{Name: c.Name, Scopes: scopes, Namespaces: c.Only}
	if c.Expires < 0 {
		return &usageError{errors.New("--expires lies in the past")}
	}
	if c.Expires > 0 {
		spec.Expires = time.Now().Add(c.Expires)
	}
	secret, err := token.Open(a.data, nil).Create(spec)
	if err != nil {
		return err
	}
	a.printf("%s\n", secret)
	fmt.Fprintf(a.err, "It is not shown again: only a hash of it is kept.\n")
	return nil
}

type tokenList struct {
	JSON bool `help:"Print one JSON object a token."`
}

func (c *tokenList) Run(a *app) error {
	list, err := token.Open(a.data, nil).List()
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(a.out)
		for _, t := range list {
			if err := e.Encode(map[string]any{
				"name": t.Name, "scopes": t.Scopes, "namespaces": t.Namespaces, "created": t.Created, "expires": expires(t), "expired": t.Expired,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.printf("There are no named tokens.\n")
		return nil
	}
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.AppendHeader(table.Row{"name", "scopes", "namespaces", "created", "expires"})
	for _, t := range list {
		names := make([]string, len(t.Scopes))
		for i, s := range t.Scopes {
			names[i] = string(s)
		}
		until := "never"
		if !t.Expires.IsZero() {
			until = t.Expires.Format(time.RFC3339)
		}
		if t.Expired {
			until = "expired"
		}
		only := "all"
		if len(t.Namespaces) > 0 {
			only = strings.Join(t.Namespaces, ", ")
		}
		w.AppendRow(table.Row{t.Name, strings.Join(names, ", "), only, t.Created.Format(time.RFC3339), until})
	}
	a.printf("%s\n", w.Render())
	return nil
}

func expires(t token.Info) any {
	if t.Expires.IsZero() {
		return "never"
	}
	return t.Expires
}

type tokenRevoke struct {
	Name string `arg:"" help:"Its name."`
}

func (c *tokenRevoke) Run(a *app) error {
	if err := token.Open(a.data, nil).Revoke(c.Name); err != nil {
		return err
	}
	a.printf("revoked %s\n", c.Name)
	return nil
}

type tokenLogin struct {
	JSON bool `help:"Print a JSON object with code, and expires_in in seconds."`
}

func (c *tokenLogin) Run(a *app) error {
	return a.withDatabase(reading, func(db database) error {
		server, ok := db.(remote)
		if !ok {
			return errors.New("no server has " + a.data + " open, and without one there is nothing to log in at: start it by engramd serve")
		}
		code, life, err := server.LoginCode(a.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(a.out).Encode(map[string]any{"code": code, "expires_in": int(life.Seconds())})
		}
		a.printf("%s\n", code)
		fmt.Fprintf(a.err, "A browser's page sends it to POST /v1/login, once, within %s; then its cookie counts as the token.\n", life)
		return nil
	})
}

type tokenRotate struct {
	TokenFile string `help:"The file of the token; without it \"token\" in the data directory." env:"ENGRAM_TOKEN_FILE" placeholder:"FILE"`
}

func (c *tokenRotate) Run(a *app) error {
	store := token.Open(a.data, &token.Options{File: c.TokenFile})
	if _, err := store.Rotate(); err != nil {
		return err
	}
	a.printf("A new token is in %s.\n", store.File())
	return nil
}

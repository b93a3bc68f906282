package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"engram/chatbridge/gate"
)

type gateCommand struct {
	Scenario string `help:"Scenario file; without it the one that is built in." placeholder:"FILE"`
	Listen   string `help:"Where to listen, by default ${default}; port 0 takes any." default:"127.0.0.1:7464" placeholder:"ADDRESS"`
	Key      string `help:"Key that requests must carry; without it none is asked for." env:"ENGRAM_GATE_KEY" placeholder:"KEY"`
	Mode     string `help:"Make every reply hostile: silent, drop, forever or bytes." enum:",silent,drop,forever,bytes" default:"" placeholder:"MODE"`
	Log      string `help:"Append what was asked and answered to a file, a line of JSON each." placeholder:"FILE"`
	Print    bool   `help:"Print the scenario file that is built in, and end."`
}

// Help is shown by --help.
func (gateCommand) Help() string {
	return `A model provider that answers as a file says, the same every time, to try an agent against: Anthropic Messages at
/v1/messages, OpenAI Chat Completions at /v1/chat/completions. A marker in the prompt chooses a scenario, whose steps are the
replies. Requests are checked strictly; a wrong one is answered with 400 and a code. GET /gate/stats counts, GET /gate/log
tells what was really delivered. It holds no data and needs no network.

Examples:
  engramd gate
  engramd gate --print > scenarios.json
  engramd gate --scenario scenarios.json --listen 127.0.0.1:0 --log gate.jsonl
  engramd gate --mode drop`
}

func (c *gateCommand) Run(a *app) error {
	if c.Print {
		_, err := a.out.Write(gate.DefaultScenario())
		return err
	}
	text := gate.DefaultScenario()
	if c.Scenario != "" {
		f, err := openInput(c.Scenario)
		if err != nil {
			return err
		}
		text, err = io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	script, err := gate.ParseScenario(text)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return &usageError{fmt.Errorf("--listen %s: want address:port, such as 127.0.0.1:7464", c.Listen)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && c.Key == "" {
		return &refusedError{fmt.Sprintf("refused to listen on %s without a key: other machines reach it. Give --key, or listen on 127.0.0.1", c.Listen)}
	}
	o := &gate.Options{Key: c.Key, Mode: c.Mode}
	if c.Log != "" {
		f, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		o.Log = f
	}
	return c.serve(a, gate.New(script, o), len(script.Scenarios))
}

func (c *gateCommand) serve(a *app, g *gate.Gate, scenarios int) error {
	l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: g, ReadHeaderTimeout: 5 * time.Second}
	a.printf("The gate answers at http://%s with %s. Stop it with Ctrl-C.\n", l.Addr(), plural(int64(scenarios), "scenario"))
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-a.ctx.Done():
	}
	g.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), shutdownWait)
	defer cancel()
	if s.Shutdown(ctx) != nil {
		_ = s.Close() // requests that went on are cut; who served tells the rest
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	st := g.Stats()
	a.printf("%s, %d refused, %d past a script's end\n", plural(int64(st.Requests), "request"), st.Refused, st.Exhausted)
	return nil
}

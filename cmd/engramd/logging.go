package main

import (
	"io"
	"log/slog"
)

// logFlags are those of the commands that log.
type logFlags struct {
	LogFormat string `help:"How to log to stderr: text or json; by default ${default}." default:"text" enum:"text,json" placeholder:"FORMAT"`
	LogLevel  string `help:"What to log: debug, info, warn or error; by default ${default}." default:"info" enum:"debug,info,warn,error" placeholder:"LEVEL"`
}

func (f *logFlags) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.LogLevel)) // the parser has checked it
	opts := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

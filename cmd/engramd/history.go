package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxHistory is how many statements are kept.
const maxHistory = 1000

// history keeps what a person typed, in a file that only that person can read.
type history struct {
	file    string // empty: in memory only
	lines   []string
	typed   []string // of the statement that is being typed
	secret  bool     // one of them began with a blank
	recall  func(string)
	trouble error // the file cannot be used
}

// historyFile is where history is kept; empty: nowhere.
func historyFile() string {
	if file, ok := os.LookupEnv("ENGRAM_HISTORY"); ok {
		return file
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "engram", "history")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "engram", "history")
}

// openHistory reads what is kept and hands each line to recall, which hears of what is
// typed later too. A file that cannot be used is done without.
func openHistory(file string, recall func(string)) *history {
	h := &history{file: file, recall: recall}
	if file == "" {
		return h
	}
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.Chmod(file, 0o600)
	} else if os.IsNotExist(err) {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		h.file, h.trouble = "", err
		return h
	}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			h.lines = append(h.lines, line)
		}
	}
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
		h.shorten()
	}
	for _, line := range h.lines {
		recall(line)
	}
	return h
}

// shorten writes the file anew with the lines that are kept, in one step.
func (h *history) shorten() {
	aside := fmt.Sprintf("%s.%d", h.file, os.Getpid())
	err := os.WriteFile(aside, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	if err == nil {
		err = os.Rename(aside, h.file)
	}
	if err != nil {
		_ = os.Remove(aside) // it may not be there
	}
}

// note takes a line of a statement in.
func (h *history) note(line string) {
	if h == nil {
		return
	}
	h.secret = h.secret || strings.HasPrefix(line, " ") && len(h.typed) == 0
	h.typed = append(h.typed, strings.TrimSpace(line))
}

// keep keeps what was noted: one line, unless a comment runs to the end of one.
func (h *history) keep() {
	if h == nil {
		return
	}
	typed, secret := h.typed, h.secret
	h.typed, h.secret = nil, false
	if secret {
		return
	}
	whole := []string{strings.Join(typed, " ")}
	if strings.Contains(whole[0], "//") {
		whole = typed
	}
	for _, line := range whole {
		if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
			continue
		}
		h.lines = append(h.lines, line)
		h.recall(line)
		h.trouble = h.append(line)
	}
}

func (h *history) append(line string) error {
	if h.file == "" {
		return nil
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// last are the newest lines.
func (h *history) last(n int) string {
	var b strings.Builder
	for _, line := range h.lines[max(0, len(h.lines)-n):] {
		b.WriteString(line + "\n")
	}
	if h.trouble != nil {
		fmt.Fprintf(&b, "note: nothing is kept for later: %v\n", h.trouble)
	}
	return b.String()
}

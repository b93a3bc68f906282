package chatbridge_test

import (
	"os"
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestIdentityOnlyWithTheMachine holds that who the operator is is told in turns that are
// offered a tool for files or commands, also after a suspension, and in no others.
func TestIdentityOnlyWithTheMachine(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, escalating)
		w.o.Operator = &chatbridge.Operator{User: "quokka", Home: "/home/quokka", Machine: "burrow\nIgnore"}
		machine := []string{"read_file", "list_dir", "search_files", "write_file", "edit_file", "run_command"}
		b := w.bridge()
		told := func(want bool) {
			t.Helper()
			entries := w.gate.Entries()
			system := entries[len(entries)-1].System
			if is := strings.Contains(system, "\nTools work as the user quokka, with the home folder /home/quokka, on the machine burrow Ignore."); is != want {
				t.Errorf("told %v, want %v: %s", is, want, system)
			}
			if !want && (strings.Contains(system, "quokka") || strings.Contains(system, "burrow") || strings.Contains(system, w.dir)) {
				t.Errorf("a part of it is told: %s", system)
			}
		}
		w.send(b, chatbridge.Message{Text: "hello"})
		told(true)
		w.send(b, chatbridge.Message{Text: "hello", NoTools: true})
		told(false)
		w.send(b, chatbridge.Message{Text: "hello", Without: machine[1:]})
		told(true)
		w.send(b, chatbridge.Message{Text: "hello", Without: machine})
		told(false)
		out := w.send(b, chatbridge.Message{Text: "GATE-RUN"})
		w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Words: "no"})
		told(true)
		w.o.Workspace = ""
		w.send(w.bridge(), chatbridge.Message{Text: "hello"})
		told(false)
	})
}

// TestIdentityIsThisProgramsByItself holds that without an operator the one is told that
// the program runs as.
func TestIdentityIsThisProgramsByItself(t *testing.T) {
	w := newWorld(t, "openai", false, anyScript)
	w.send(w.bridge(), chatbridge.Message{Text: "hello"})
	host, err := os.Hostname()
	if err != nil || host == "" {
		t.Fatal(err, "the machine has no name")
	}
	if system := w.systems()[0]; !strings.Contains(system, "on the machine "+host) {
		t.Error(system)
	}
}

package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpChatNamesFlags holds the page to the flags and commands of engramd chat: each is
// there, and no other.
func TestHelpChatNamesFlags(t *testing.T) {
	page, err := os.ReadFile("help/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&grammar{}, kong.Name("engramd"), grammarVars())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == "chat" })
	var flags, commands []string
	for _, c := range parser.Model.Children[i].Children {
		if c.Name != "say" { // needs no name
			commands = append(commands, c.Name)
		}
		for _, f := range c.Flags {
			flags = append(flags, f.Name)
		}
	}
	slices.Sort(flags)
	flags = slices.Compact(flags)
	var named []string
	for _, m := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(string(page), -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	if named = slices.Compact(named); len(flags) < 20 || !slices.Equal(named, flags) {
		t.Errorf("the page names the flags\n%q, there are\n%q", named, flags)
	}
	for _, name := range commands {
		if !regexp.MustCompile("(?m)^\\|.*`" + name + "[ `]").Match(page) {
			t.Errorf("the page does not name %s", name)
		}
	}
	if code, out, _ := command("", "help", "chat"); code != exitOK || out != string(page) {
		t.Errorf("engramd help chat: %d", code)
	}
}

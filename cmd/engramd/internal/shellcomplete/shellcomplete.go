// Package shellcomplete tells a shell what may be typed next on a command line: its
// scripts hand over the words, and get back a line for each way to go on.
package shellcomplete

import (
	"embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is the first argument with which the scripts ask. The shell's name follows,
// then the words behind the program's name, the last being the one with the cursor,
// which may be empty.
const Command = "__complete"

// Shells have a script each.
var Shells = []string{"bash", "zsh", "fish"}

//go:embed scripts
var scripts embed.FS

// Script returns what a shell has to read, one of Shells.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("scripts/engramd." + shell)
	return string(text), err
}

// Offer returns the ways to go on with the last word, each whole, in the order of the
// help. None means that nothing is known: a shell then offers files.
func Offer(root *kong.Node, shell string, words []string) []string {
	if shell == "bash" {
		words = joined(words)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	l := &line{node: root}
	for _, word := range words[:len(words)-1] {
		l.read(word)
	}
	offered := slices.DeleteFunc(l.offer(last), func(s string) bool { return !strings.HasPrefix(s, last) })
	if at := strings.LastIndexByte(last, '='); shell == "bash" && at >= 0 {
		for i, s := range offered { // what bash replaces begins behind it
			offered[i] = s[at+1:]
		}
	}
	return offered
}

// joined undoes how bash takes words apart at =.
func joined(words []string) []string {
	var out []string
	for i, word := range words {
		if len(out) > 0 && (word == "=" || i > 0 && words[i-1] == "=") {
			out[len(out)-1] += word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// line is what was understood of the words so far.
type line struct {
	node       *kong.Node
	waiting    *kong.Value // of the flag before, whose value comes next
	positional int         // arguments of node
	ended      bool        // by --: no flags any more
}

func (l *line) read(word string) {
	switch {
	case l.waiting != nil:
		l.waiting = nil
	case !l.ended && word == "--":
		l.ended = true
	case !l.ended && strings.HasPrefix(word, "--"):
		name, _, hasValue := strings.Cut(word[2:], "=")
		if f := l.flag(name); f != nil && takesValue(f) && !hasValue {
			l.waiting = f.Value
		}
	case !l.ended && len(word) > 1 && word[0] == '-':
		l.short(word[1:])
	default:
		if child := l.child(word); child != nil {
			l.node = child
			return
		}
		l.positional++
	}
}

// short reads flags of one letter each, the last of which may have a value.
func (l *line) short(letters string) {
	for i, r := range letters {
		for _, f := range l.flags() {
			if f.Short != r || !takesValue(f) {
				continue
			}
			if i+len(string(r)) == len(letters) {
				l.waiting = f.Value
			}
			return
		}
	}
}

func (l *line) offer(last string) (out []string) {
	if l.waiting != nil {
		return values(l.waiting, last)
	}
	if name, value, ok := strings.Cut(last, "="); ok && !l.ended && strings.HasPrefix(last, "--") {
		if f := l.flag(name[2:]); f != nil {
			for _, v := range values(f.Value, value) {
				out = append(out, name+"="+v)
			}
		}
		return out
	}
	if !l.ended && strings.HasPrefix(last, "-") {
		for _, f := range l.flags() {
			out = append(out, "--"+f.Name)
			if f.Tag.Negatable != "" {
				out = append(out, "--no-"+f.Name)
			}
		}
		return out
	}
	if l.positional == 0 && !l.ended {
		for _, child := range l.node.Children {
			if !child.Hidden {
				out = append(out, child.Name)
			}
		}
	}
	return append(out, l.argument(last)...)
}

// argument offers values of the argument that comes next.
func (l *line) argument(last string) []string {
	args := l.node.Positional
	if l.node.DefaultCmd != nil {
		args = l.node.DefaultCmd.Positional
	}
	if l.positional < len(args) {
		return values(args[l.positional], last)
	}
	return nil
}

func (l *line) child(name string) *kong.Node {
	if l.positional > 0 || l.ended {
		return nil
	}
	for _, child := range l.node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// flags are those that may stand here: of the command, of its default command, then of
// what is above.
func (l *line) flags() (out []*kong.Flag) {
	if l.node.DefaultCmd != nil {
		out = append(out, l.node.DefaultCmd.Flags...)
	}
	for n := l.node; n != nil; n = n.Parent {
		out = append(out, n.Flags...)
	}
	return slices.DeleteFunc(out, func(f *kong.Flag) bool { return f.Hidden })
}

func (l *line) flag(name string) *kong.Flag {
	for _, f := range l.flags() {
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// values are those of an enum, else what the tag complete names. In a list, they go on
// behind the last comma.
func values(v *kong.Value, typed string) (out []string) {
	before := ""
	if v.IsSlice() {
		before = typed[:strings.LastIndexByte(typed, ',')+1]
	}
	known := strings.Split(v.Tag.Get("complete"), ",")
	if v.Enum != "" {
		known = v.EnumSlice()
	}
	for _, value := range known {
		if value != "" {
			out = append(out, before+value)
		}
	}
	return out
}

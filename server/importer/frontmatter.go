package importer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"engram"

	"go.yaml.in/yaml/v4"
)

// maxFront bounds what stands before a note, in bytes.
const maxFront = 256 << 10

// field is one entry of what stands before a note.
type field struct {
	key   string
	line  int // of the file
	value engram.Value
	links []string // when all of it are links to notes: their targets
	odd   bool     // it was nested, and became a text
}

// splitFront cuts what stands before a note between two lines of ---; lines is how many
// lines of the file that takes.
func splitFront(text []byte) (front, body []byte, lines int) {
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || strings.TrimRight(string(first), " \t") != "---" {
		return nil, text, 0
	}
	lines = 1
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		lines++
		if l := strings.TrimRight(string(line), " \t"); l == "---" || l == "..." {
			return rest[:at], rest[min(len(rest), at+len(line)+1):], lines
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return nil, text, 0 // a line that is drawn, not the begin of anything
}

// parseFront reads YAML.
func parseFront(front []byte) ([]field, error) {
	if len(bytes.TrimSpace(front)) == 0 {
		return nil, nil
	}
	if len(front) > maxFront {
		return nil, fmt.Errorf("its front matter is larger than %d KiB", maxFront>>10)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		return nil, frontError(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, errors.New("its front matter is no list of names and values")
	}
	var fields []field
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, v := top.Content[i], top.Content[i+1]
		if key.Kind != yaml.ScalarNode || strings.TrimSpace(key.Value) == "" {
			return nil, &LineError{key.Line + 1, errors.New("a name in the front matter is no text")}
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == key.Value }) {
			return nil, &LineError{key.Line + 1, fmt.Errorf("the front matter names %q twice", key.Value)}
		}
		f := field{key: key.Value, line: key.Line + 1}
		f.read(v)
		if !f.value.IsNull() || f.links != nil {
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// frontError tells an error of YAML in the words of a file.
func frontError(err error) error {
	text := firstLine(strings.TrimPrefix(err.Error(), "yaml: "))
	line := 0
	if i := strings.Index(text, "line "); i >= 0 {
		number, _, _ := strings.Cut(text[i+5:], ":")
		number, _, _ = strings.Cut(number, ",")
		if n, e := strconv.Atoi(strings.TrimSpace(number)); e == nil {
			line = n + 1
		}
	}
	if _, why, ok := strings.Cut(text, ": "); ok {
		text = why
	}
	err = fmt.Errorf("its front matter cannot be read: %s", text)
	if line > 0 {
		return &LineError{line, err}
	}
	return err
}

// read makes a property of a value, or links.
func (f *field) read(v *yaml.Node) {
	v = follow(v)
	switch v.Kind {
	case yaml.ScalarNode:
		f.value = scalarOf(v)
		if target, ok := wikiTarget(f.value.AsString()); ok {
			f.links = []string{target}
		}
		return
	case yaml.SequenceNode:
		if list, links, ok := sequence(v); ok {
			f.value, f.links = list, links
			return
		}
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		return
	}
	f.odd, f.value = true, stringValue(strings.TrimSpace(string(text)))
}

// follow finds what an alias stands for.
func follow(v *yaml.Node) *yaml.Node {
	for range 8 {
		if v.Kind != yaml.AliasNode || v.Alias == nil {
			break
		}
		v = v.Alias
	}
	return v
}

// sequence makes a list of scalars, which are texts unless all are of one kind; or
// links, when all of them are. [[Note]] without quotes is a list in a list.
func sequence(v *yaml.Node) (list engram.Value, links []string, ok bool) {
	var values []engram.Value
	for _, e := range v.Content {
		e = follow(e)
		if e.Kind == yaml.SequenceNode && len(e.Content) == 1 {
			inner := follow(e.Content[0])
			if inner.Kind == yaml.ScalarNode {
				links = append(links, inner.Value)
				continue
			}
			if inner.Kind == yaml.SequenceNode && len(inner.Content) == 1 && follow(inner.Content[0]).Kind == yaml.ScalarNode {
				links = append(links, follow(inner.Content[0]).Value)
				continue
			}
		}
		if e.Kind != yaml.ScalarNode {
			return list, nil, false
		}
		s := scalarOf(e)
		if s.IsNull() {
			continue
		}
		if target, isLink := wikiTarget(s.AsString()); isLink {
			links = append(links, target)
		}
		values = append(values, s)
	}
	if len(links) > 0 {
		if len(values) == 0 || len(links) == len(values) {
			return list, links, true
		}
		links = nil
	}
	mixed := slices.ContainsFunc(values, func(s engram.Value) bool { return s.Kind() != values[0].Kind() })
	if mixed {
		for i, s := range values {
			values[i] = stringValue(s.ToString())
		}
	}
	out, err := engram.ValueOf(values)
	return out, nil, err == nil
}

// wikiTarget reads a text that is one link to a note, as in [[Note|name]].
func wikiTarget(s string) (target string, ok bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[[") || !strings.HasSuffix(s, "]]") || strings.Count(s, "[[") != 1 || len(s) < 5 {
		return "", false
	}
	return s[2 : len(s)-2], true
}

// scalarOf makes a value of a scalar; null is none.
func scalarOf(n *yaml.Node) engram.Value {
	switch n.ShortTag() {
	case "!!null":
		return engram.Value{}
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			v, _ := engram.ValueOf(b)
			return v
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			v, _ := engram.ValueOf(i)
			return v
		}
	case "!!float":
		var x float64
		if n.Decode(&x) == nil {
			v, _ := engram.ValueOf(x)
			return v
		}
	case "!!timestamp":
		if date, ok := parseDate(n.Value); ok {
			v, _ := engram.ValueOf(date)
			return v
		}
	}
	return stringValue(strings.ToValidUTF8(n.Value, "\ufffd"))
}

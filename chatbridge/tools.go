package chatbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/wire"
)

// tool is what a model may call.
type tool struct {
	name, description string
	fields            []field
	// look tells what a call would do, without doing it.
	look func(ctx context.Context, b *Bridge, d *decision) error
	run  func(ctx context.Context, b *Bridge, a arguments) (string, error)
}

// field is an argument of a tool.
type field struct {
	name, kind, description string // kind: string, integer or strings; object: the only one, all of them
	optional                bool
}

// arguments are decoded arguments.
type arguments map[string]any

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

func (a arguments) list(name string) []string { l, _ := a[name].([]string); return l }

func (a arguments) number(name string, otherwise int) int {
	if n, ok := a[name].(int); ok {
		return n
	}
	return otherwise
}

// schema is the JSON Schema of a tool's arguments.
func (t *tool) schema() json.RawMessage {
	properties := map[string]any{}
	required := []string{}
	for _, f := range t.fields {
		p := map[string]any{"type": f.kind, "description": f.description}
		if f.kind == "strings" {
			p = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": f.description}
		}
		properties[f.name] = p
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return json.RawMessage(encoded(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}

// decodeArguments decodes arguments once and strictly: keys that are unknown, repeat or
// differ in their letters are refused, so that what is shown is what runs.
func decodeArguments(raw string, fields []field) (arguments, error) {
	if len(fields) == 1 && fields[0].kind == "object" {
		return decodeWhole(raw)
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the arguments are not a JSON object")
	}
	out := arguments{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errors.New("the arguments are not a JSON object")
		}
		name, _ := key.(string)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no argument %q", box.Visible(name))
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("the argument %q is there twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errors.New("the arguments are not a JSON object")
		}
		if out[name], err = fields[i].decode(value); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if _, ok := out[f.name]; !ok && !f.optional {
			return nil, fmt.Errorf("the argument %q is missing", f.name)
		}
	}
	return out, nil
}

func (f field) decode(raw json.RawMessage) (any, error) {
	switch f.kind {
	case "string":
		var s string
		if json.Unmarshal(raw, &s) == nil && !bytes.Equal(raw, []byte("null")) {
			return s, nil
		}
	case "integer":
		var n int
		if json.Unmarshal(raw, &n) == nil && !bytes.Equal(raw, []byte("null")) {
			return n, nil
		}
	case "strings":
		var l []*string
		if json.Unmarshal(raw, &l) == nil && l != nil {
			out := make([]string, len(l))
			for i, s := range l {
				if s == nil {
					return nil, fmt.Errorf("the argument %q must be a list of texts", f.name)
				}
				out[i] = *s
			}
			return out, nil
		}
		return nil, fmt.Errorf("the argument %q must be a list of texts", f.name)
	}
	return nil, fmt.Errorf("the argument %q must be a %s", f.name, f.kind)
}

// tools are the tools that there are: those of a workspace only with one.
func (b *Bridge) tools() []tool {
	out := memoryTools()
	if b.files != nil {
		out = append(out, fileTools()...)
	}
	return append(out, fetchTool())
}

func (b *Bridge) offered() []wire.Tool {
	var out []wire.Tool
	for _, t := range b.tools() {
		out = append(out, wire.Tool{Name: t.name, Description: t.description, Schema: t.schema()})
	}
	return out
}

// reads is the look of a tool that only reads.
func reads(_ context.Context, _ *Bridge, d *decision) error { d.tier = TierRead; return nil }

var pathField = field{name: "path", kind: "string", description: "Path below the workspace, such as notes/a.txt."}

func fileTools() []tool {
	return []tool{
		{
			"read_file", "Read a file of text in the workspace.",
			[]field{pathField},
			looksAt,
			func(_ context.Context, b *Bridge, a arguments) (string, error) { return b.files.Read(a.text("path")) },
		},
		{
			"list_dir", "List a folder of the workspace; . is the workspace itself.",
			[]field{pathField},
			looksAt,
			func(_ context.Context, b *Bridge, a arguments) (string, error) { return b.files.List(a.text("path")) },
		},
		{
			"search_files", "Find the lines of files below a folder that hold a text.",
			[]field{{name: "text", kind: "string", description: "What to look for; letters of either case."}, {name: "path", kind: "string", description: "Folder; without it the workspace.", optional: true}},
			looksAt,
			func(_ context.Context, b *Bridge, a arguments) (string, error) {
				return b.files.Search(a.text("text"), orDot(a.text("path")))
			},
		},
		{
			"write_file", "Write a whole file of the workspace, making the folders above it.",
			[]field{pathField, {name: "content", kind: "string", description: "What the file holds afterwards."}},
			looksAtWriting,
			func(_ context.Context, b *Bridge, a arguments) (string, error) {
				err := b.files.Write(a.text("path"), a.text("content"))
				return fmt.Sprintf("Wrote %d bytes to %s.", len(a.text("content")), a.text("path")), err
			},
		},
		{
			"edit_file", "Replace a text in a file of the workspace; it must be there exactly once.",
			[]field{pathField, {name: "old", kind: "string", description: "The text to replace."}, {name: "new", kind: "string", description: "What comes in its place."}},
			looksAtWriting,
			func(_ context.Context, b *Bridge, a arguments) (string, error) {
				content, err := b.files.Edited(a.text("path"), a.text("old"), a.text("new"))
				if err == nil {
					err = b.files.Write(a.text("path"), content)
				}
				return "Replaced it in " + a.text("path") + ".", err
			},
		},
		{
			"run_command", "Run a program in the workspace, without a shell: argv is the program and its arguments, each a text of its own.",
			[]field{{name: "argv", kind: "strings", description: `Such as ["go", "test", "./..."].`}},
			looksAtCommand,
			func(ctx context.Context, b *Bridge, a arguments) (string, error) {
				return box.Run(ctx, b.files.Dir(), a.list("argv"), b.o.CommandTime)
			},
		},
	}
}

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func looksAt(_ context.Context, b *Bridge, d *decision) error {
	d.tier, d.dir = TierRead, b.files.Dir()
	_, err := box.Clean(orDot(d.args.text("path")))
	return err
}

// looksAtWriting tells what a file becomes. What the file holds now is part of it, so
// that an approval does not cover another file.
func looksAtWriting(_ context.Context, b *Bridge, d *decision) error {
	d.tier, d.dir = TierReversible, b.files.Dir()
	name, err := box.Clean(d.args.text("path"))
	if err != nil {
		return err
	}
	if box.Protected(name) {
		d.tier, d.guarded = TierEscalate, true
	}
	before := b.files.Hash(name)
	if d.tool.name == "edit_file" {
		d.shown = fmt.Sprintf("edit %s (now %s)\n- %s\n+ %s", box.Visible(name), short(before), lines("- ", d.args.text("old")), lines("+ ", d.args.text("new")))
		return nil
	}
	what := "write " + box.Visible(name) + " (new file)"
	if before != "absent" {
		what = fmt.Sprintf("overwrite %s (now %s)", box.Visible(name), short(before))
	}
	d.shown = what + "\n+ " + lines("+ ", d.args.text("content"))
	return nil
}

func short(hash string) string {
	if len(hash) > 16 {
		return "sha256 " + hash
	}
	return hash
}

func lines(mark, text string) string {
	return strings.ReplaceAll(box.Visible(strings.TrimSuffix(text, "\n")), "\n", "\n"+mark)
}

func looksAtCommand(_ context.Context, b *Bridge, d *decision) error {
	d.tier, d.dir = TierEscalate, b.files.Dir()
	argv := d.args.list("argv")
	if box.ReadOnly(argv) {
		d.tier = TierRead
	}
	parts := make([]string, len(argv))
	for i, a := range argv {
		if parts[i] = encoded(box.Visible(a)); i == 0 {
			parts[i] = encoded(box.ASCII(a)) // programs have plain names: what only looks like one is told
		}
	}
	d.shown = "run " + strings.Join(parts, " ")
	return box.CheckCommand(argv)
}

func fetchTool() tool {
	return tool{
		"fetch_url", "Fetch a page of text from the public network.",
		[]field{{name: "url", kind: "string", description: "http or https address."}},
		func(_ context.Context, _ *Bridge, d *decision) error {
			d.tier, d.shown = TierEscalate, "fetch "+box.Visible(d.args.text("url"))
			_, err := box.CheckURL(d.args.text("url"))
			return err
		},
		func(ctx context.Context, b *Bridge, a arguments) (string, error) {
			return b.fetch.Fetch(ctx, a.text("url"))
		},
	}
}

package importer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// sniffed is how much of a file is looked at to find its format.
const sniffed = 64 << 10

// ErrUnknownFormat is about an input that is written in no format that is known.
var ErrUnknownFormat = errors.New("the format is not recognised")

// detect finds the format by the content.
func (im *importing) detect() (string, error) {
	if im.src.Dir != nil {
		return im.detectDir()
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(im.file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	if err := im.rewind(); err != nil {
		return "", err
	}
	name := detectHead(head[:n], strings.ToLower(filepath.Ext(im.src.Name)))
	if name == "" || !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("%w: give it by --format, one of %s", ErrUnknownFormat, strings.Join(Formats(), ", "))
	}
	return name, nil
}

// detectDir tells a backup and a graph as CSV from a folder of Markdown.
func (im *importing) detectDir() (string, error) {
	if info, err := im.src.Dir.Lstat("manifest.json"); err == nil && info.Mode().IsRegular() {
		if info, err := im.src.Dir.Lstat("graph.db"); err == nil && info.Mode().IsRegular() {
			return "backup", nil
		}
	}
	if info, err := im.src.Dir.Lstat(nodesFile); err == nil && info.Mode().IsRegular() {
		return "csv", nil
	}
	return "markdown", nil
}

// detectHead finds the format of a file by its first bytes; ext only decides where the
// content says nothing. Empty: none.
func detectHead(head []byte, ext string) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return ""
	case len(head) == 0 && (ext == ".jsonl" || ext == ".ndjson"):
		return "memories"
	case ext == ".md" || ext == ".markdown":
		return "markdown"
	case bytes.HasPrefix(head, []byte("[")):
		if name := detectArray(head); name != "" || ext != ".jsonl" && ext != ".ndjson" {
			return name
		}
		return "memories" // whose reader tells what is wrong
	case bytes.HasPrefix(head, []byte("{")):
		if name := detectObject(head); name != "" {
			return name
		}
		if ext == ".jsonl" || ext == ".ndjson" {
			return "memories" // whose reader tells what is wrong
		}
		return detectArray(head) // a single conversation
	case isScript(head):
		return "cypher"
	case isTable(head) || ext == ".csv":
		return "csv"
	}
	if ext == ".jsonl" || ext == ".ndjson" {
		return "memories"
	}
	if ext == ".cypher" || ext == ".cql" || ext == ".eql" {
		return "cypher"
	}
	return ""
}

// firstKeys reads the keys of the first object of a line of JSON.
func firstKeys(line []byte) map[string]string {
	d := json.NewDecoder(bytes.NewReader(line))
	keys := map[string]string{}
	depth, key := 0, ""
	for {
		t, err := d.Token()
		if err != nil {
			return keys
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else if depth--; depth == 0 {
				return keys
			}
			if depth == 1 {
				key = ""
			} else if depth == 2 && key != "" {
				keys[key], key = "", ""
			}
		default:
			if depth != 1 {
				continue
			}
			text, isText := t.(string)
			switch {
			case key == "" && isText:
				key = text
			case key != "":
				keys[key], key = text, ""
			}
		}
	}
}

// detectObject finds the format of JSON Lines by the keys of the first.
func detectObject(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	keys := firstKeys(line)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { _, ok := keys[n]; return ok })
	}
	switch {
	case keys["type"] == "entity" || keys["type"] == "relation":
		return "memory"
	case has("engram", "node", "edge", "schema", "end") && len(keys) == 1:
		return "jsonl"
	case has("mapping", "chat_messages", "conversations"):
		return ""
	case has("id", "text"):
		return "memories"
	}
	return ""
}

// detectArray finds the format of a chat export by what its first conversation has.
func detectArray(head []byte) string {
	openAI, anthropic := bytes.Index(head, []byte(`"mapping"`)), bytes.Index(head, []byte(`"chat_messages"`))
	switch {
	case openAI >= 0 && (anthropic < 0 || openAI < anthropic):
		return "openai"
	case anthropic >= 0:
		return "anthropic"
	}
	return ""
}

// isTable reports whether the first line is a header of CSV that we know.
func isTable(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	cells, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return false
	}
	for _, c := range cells {
		c = strings.ToLower(strings.TrimSpace(c))
		_, suffix, _ := strings.Cut(c, ":")
		if c == "id" || c == "src" || suffix == "id" || suffix == "start_id" || strings.HasPrefix(suffix, "id(") || strings.HasPrefix(suffix, "start_id(") {
			return true
		}
	}
	return false
}

// isShellCommand tells lines that are for a shell, such as :begin and :param.
func isShellCommand(line []byte) bool {
	for _, c := range []string{":begin", ":commit", ":rollback", ":param", ":use", ":schema", ":source"} {
		if bytes.HasPrefix(line, []byte(c)) {
			return true
		}
	}
	return false
}

// isScript reports whether a text begins with a statement or a comment.
func isScript(head []byte) bool {
	for {
		head = bytes.TrimLeft(head, " \t\r\n;")
		switch {
		case bytes.HasPrefix(head, []byte("//")), isShellCommand(head):
			_, rest, ok := bytes.Cut(head, []byte("\n"))
			if !ok {
				return bytes.HasPrefix(head, []byte("//"))
			}
			head = rest
			continue
		case bytes.HasPrefix(head, []byte("/*")):
			_, rest, ok := bytes.Cut(head, []byte("*/"))
			if !ok {
				return true
			}
			head = rest
			continue
		}
		break
	}
	word, rest, _ := strings.Cut(string(head[:min(len(head), 80)]), " ")
	if i := strings.IndexAny(word, "\n(\t"); i >= 0 {
		word, rest = word[:i], "x"
	}
	return rest != "" && slices.Contains([]string{"CREATE", "MERGE", "MATCH", "UNWIND", "WITH", "CALL", "REMEMBER", "DROP", "DECLARE", "LINK", "BEGIN", "OPTIONAL", "FOREACH"}, strings.ToUpper(word))
}

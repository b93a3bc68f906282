package textgen

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerate: the counts are those of what was written, and the same seed gives the
// same bytes.
func TestGenerate(t *testing.T) {
	for _, kind := range Kinds() {
		size := map[string]int{"chat": 1, "markdown": 3, "memories": 101}[kind]
		var texts [3][]byte
		for i, seed := range []uint64{1, 1, 2} {
			dir := t.TempDir()
			counts, err := Generate(dir, kind, size, seed)
			if err != nil {
				t.Fatal(err)
			}
			files := 0
			err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				files++
				text, err := os.ReadFile(path)
				texts[i] = append(texts[i], text...)
				return err
			})
			if err != nil || files != counts.Files || int64(len(texts[i])) != counts.Bytes {
				t.Errorf("%s: %d files of %d bytes, told %+v: %v", kind, files, len(texts[i]), counts, err)
			}
			switch kind {
			case "chat":
				var chats []struct{ Mapping map[string]any }
				if err := json.Unmarshal(texts[i], &chats); err != nil {
					t.Fatal(err)
				}
				messages := 0
				for _, c := range chats {
					messages += len(c.Mapping)
				}
				if len(chats) != counts.Conversations || messages != counts.Memories || counts.Bytes < 1_000_000 {
					t.Errorf("%d chats, %d messages, told %+v", len(chats), messages, counts)
				}
			case "markdown":
				if counts.Memories != 3 || strings.Count(string(texts[i]), "](../part-") != counts.Links || counts.Links != 2 {
					t.Errorf("told %+v", counts)
				}
			case "memories":
				if n := bytes.Count(texts[i], []byte("\n")); n != 101 || counts.Memories != n || counts.Conversations != 2 {
					t.Errorf("%d lines, told %+v", n, counts)
				}
			}
		}
		if !bytes.Equal(texts[0], texts[1]) || bytes.Equal(texts[0], texts[2]) {
			t.Errorf("%s: the bytes do not follow the seed", kind)
		}
	}
	if _, err := Generate(t.TempDir(), "other", 1, 1); err == nil {
		t.Error("an unknown kind is taken")
	}
}

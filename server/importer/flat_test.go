package importer_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"engram"
	"engram/server/importer"
)

// TestMemoryIsFlat reads inputs of 24 MB. What is held meanwhile, beside a digest of
// each id, does not grow with them.
func TestMemoryIsFlat(t *testing.T) {
	const size, most = 24 << 20, 10 << 20
	text := strings.Repeat("words and words ", 60)
	for format, write := range map[string]func(w io.Writer, i int){
		"anthropic": func(w io.Writer, i int) {
			fmt.Fprintf(w, `%s{"uuid":"u%d","name":"N","chat_messages":[{"uuid":"a","text":"%s","sender":"human"},{"uuid":"b","text":"%s","sender":"assistant"}]}`,
				map[bool]string{true: "[", false: ",\n"}[i == 0], i, text, text)
		},
		"memories": func(w io.Writer, i int) { fmt.Fprintf(w, `{"id":"m%d","text":"%s"}`+"\n", i, text) },
		"csv": func(w io.Writer, i int) {
			if i == 0 {
				fmt.Fprintln(w, "id,label,content")
			}
			fmt.Fprintf(w, "n%d,N,%s\n", i, text)
		},
	} {
		t.Run(format, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "input"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }() // only read from here on
			w := bufio.NewWriter(f)
			items := 0
			for ; items*len(text) < size; items++ {
				write(w, items)
			}
			if format == "anthropic" {
				fmt.Fprint(w, "]")
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			held := func() int64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			before, highest, looked, last := held(), int64(0), 0, int64(0)
			report, err := importer.ImportLater(context.Background(), func(string) (*engram.DB, error) { return nil, nil }, true,
				importer.Source{Name: "input", File: f}, importer.Options{Format: format, DryRun: true, Progress: func(bytes int64) {
					if bytes-last > size/8 {
						last, looked = bytes, looked+1
						highest = max(highest, held()-before)
					}
				}})
			if err != nil || report.Created < items || looked < 6 {
				t.Fatalf("%d looks, %+v, %v", looked, report, err)
			}
			t.Logf("%d items; at most %d KiB were held", items, highest>>10)
			if highest > most {
				t.Errorf("%d MiB were held of an input of %d", highest>>20, size>>20)
			}
		})
	}
}

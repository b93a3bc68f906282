// Package textgen generates what people import: a chat export, a folder of Markdown
// notes and a file of memories, of any size. The same size and seed give the same bytes.
package textgen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kinds lists what can be generated.
func Kinds() []string { return []string{"chat", "markdown", "memories"} }

// Counts tells what was written.
type Counts struct {
	Files, Conversations, Memories, Links int
	Bytes                                 int64
}

// Generate writes a kind into dir, which is made if it is missing: "chat" is
// conversations.json of size MB, "markdown" a folder notes with size files, "memories"
// memories.jsonl with size lines.
func Generate(dir, kind string, size int, seed uint64) (Counts, error) {
	if !slices.Contains(Kinds(), kind) {
		return Counts{}, fmt.Errorf("there is no kind %q", kind)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Counts{}, err
	}
	g := newGenerator(seed)
	switch kind {
	case "chat":
		err := g.file(filepath.Join(dir, "conversations.json"), func(w io.Writer) error { return g.chat(w, int64(size)*1_000_000) })
		return g.counts, err
	case "markdown":
		err := g.notes(filepath.Join(dir, "notes"), size)
		return g.counts, err
	}
	err := g.file(filepath.Join(dir, "memories.jsonl"), func(w io.Writer) error { return g.memories(w, size) })
	return g.counts, err
}

// vocabulary is how many words there are; the first ones are used most.
const vocabulary = 20_000

type generator struct {
	random *rand.Rand
	words  []string
	often  *rand.Zipf
	counts Counts
}

func newGenerator(seed uint64) *generator {
	g := &generator{random: rand.New(rand.NewPCG(seed, 1))}
	syllables := strings.Fields("ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to va ve vi vo")
	for i := range vocabulary {
		word := ""
		for n := i + len(syllables); n > 0; n /= len(syllables) {
			word += syllables[n%len(syllables)]
		}
		g.words = append(g.words, word)
	}
	g.often = rand.NewZipf(g.random, 1.1, 4, vocabulary-1)
	return g
}

// text is some sentences of about n words.
func (g *generator) text(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(map[bool]string{true: ". ", false: " "}[i%12 == 0])
		}
		b.WriteString(g.words[g.often.Uint64()])
	}
	b.WriteString(map[bool]string{true: "?", false: "."}[g.random.IntN(4) == 0])
	return b.String()
}

func (g *generator) file(name string, write func(w io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(&counter{f, &g.counts.Bytes}, 256<<10)
	err = write(w)
	g.counts.Files++
	return errors.Join(err, w.Flush(), f.Close())
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n *int64
}

// Write writes a piece.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// start is the date of the first conversation.
var start = time.Date(2023, 1, 1, 8, 0, 0, 0, time.UTC)

// chat writes conversations as OpenAI exports them, until there are that many bytes.
func (g *generator) chat(w io.Writer, size int64) error {
	written := int64(0)
	w = &counter{w, &written}
	for i := 0; written < size; i++ {
		separator := map[bool]string{true: "[", false: ",\n"}[i == 0]
		at := start.Add(time.Duration(i) * time.Hour).Unix()
		turns := 2 + g.random.IntN(40)
		if _, err := fmt.Fprintf(w, `%s{"title":"%s","conversation_id":"c%06d","create_time":%d.25,"update_time":%d,"current_node":"n%d","mapping":{`,
			separator, g.text(4), i, at, at+int64(60*turns), turns-1); err != nil {
			return err
		}
		for t := range turns {
			parent, separator := "null", ""
			if t > 0 {
				parent, separator = strconv.Quote("n"+strconv.Itoa(t-1)), ","
			}
			role := []string{"user", "assistant"}[t%2]
			if _, err := fmt.Fprintf(w, `%s"n%d":{"id":"n%d","parent":%s,"children":[],"message":{"author":{"role":"%s"},"create_time":%d.5,"content":{"content_type":"text","parts":["%s"]}}}`,
				separator, t, t, parent, role, at+int64(60*t), g.text(10+g.random.IntN(120))); err != nil {
				return err
			}
			g.counts.Memories++
		}
		if _, err := io.WriteString(w, "}}"); err != nil {
			return err
		}
		g.counts.Conversations++
	}
	_, err := io.WriteString(w, "]\n")
	return err
}

// notes writes files of Markdown, up to 500 a folder, with front matter and a link to
// an earlier one.
func (g *generator) notes(dir string, n int) error {
	name := func(i int) string { return fmt.Sprintf("part-%03d/note-%06d.md", i/500, i) }
	for i := range n {
		file := name(i)
		if i%500 == 0 {
			if err := os.MkdirAll(filepath.Join(dir, path.Dir(file)), 0o755); err != nil {
				return err
			}
		}
		err := g.file(filepath.Join(dir, file), func(w io.Writer) error {
			link := ""
			if i > 0 {
				link = fmt.Sprintf("\nSee [another](../%s).\n", name(g.random.IntN(i)))
				g.counts.Links++
			}
			_, err := fmt.Fprintf(w, "---\ncreated: %s\ntags: [%s, %s]\nsource: notebook %d\n---\n# %s\n\n%s\n%s", start.Add(time.Duration(i)*time.Hour).Format(time.DateOnly),
				g.words[g.often.Uint64()], g.words[g.often.Uint64()], i%7, g.text(4), g.text(20+g.random.IntN(120)), link)
			return err
		})
		if err != nil {
			return err
		}
		g.counts.Memories++
	}
	return nil
}

// memories writes lines of memories, 100 a conversation.
func (g *generator) memories(w io.Writer, n int) error {
	for i := range n {
		if _, err := fmt.Fprintf(w, `{"id":"m%07d","conversation":"c%05d","session":%d,"date":"%s","speaker":"%s","text":"%s"}`+"\n", i, i/100, i/20%5+1,
			start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), []string{"Ida", "Jon"}[i%2], g.text(10+g.random.IntN(30))); err != nil {
			return err
		}
		g.counts.Memories++
	}
	g.counts.Conversations = (n + 99) / 100
	return nil
}

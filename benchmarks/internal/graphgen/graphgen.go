// Package graphgen generates the property graph that engramd bench speed runs
// on: nodes with words of a Zipf vocabulary, edges with heavy-tailed degrees,
// write transactions and queries. The same size and seed give the same bytes,
// equal to those of the project's reference generator.
package graphgen

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// DefaultSeed is the seed of the published checksums.
const DefaultSeed = 20261130

// Sizes are the named numbers of nodes; there are five edges a node.
var Sizes = map[string]int{"tiny": 1_000, "small": 10_000, "medium": 100_000, "large": 1_000_000}

// The numbers of nodes that can be generated: there must be room for five distinct
// edges a node, and an edge's number fits 32 bits.
const (
	MinNodes = 10
	MaxNodes = 100_000_000
)

const (
	startSecond = 1577836800 // 2020-01-01
	spanSeconds = 5 * 365 * 86400
	hubDegree   = 50 // sources with more out-edges are never drawn for hop2 and hop3
	writes      = 2000
	vocabulary  = 20_000
)

var (
	labels = []string{"Memory", "Person", "Event", "Topic", "Document", "Place"}
	types  = []string{"RELATES_TO", "MENTIONS", "KNOWS", "CAUSED", "PART_OF", "LOCATED_IN", "CREATED_BY", "FOLLOWS"}
)

type generator struct {
	n     int
	seed  uint32
	dir   string
	words []string
	word  zipf
	label zipf
	typ   zipf
	sums  map[string]string
	bytes int

	src, dst          []int32
	kind              []int8
	outDegree, inDeg  []int32
	firstType         []int8
	permuted, shuffle []int32
}

type node struct {
	id         int
	label      string
	content    string
	importance float64
	createdAt  int
}

// Generate writes nodes.csv, edges.csv, their JSON Lines forms, writes.jsonl,
// queries.json and meta.json for n nodes into dir, which it creates.
func Generate(dir string, n int, seed uint32) error {
	if n < MinNodes || n > MaxNodes {
		return fmt.Errorf("generate: %d nodes, want %d to %d", n, MinNodes, MaxNodes)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	g := &generator{n: n, seed: seed, dir: dir, sums: map[string]string{}, word: newZipf(vocabulary, 4), label: newZipf(len(labels), 4), typ: newZipf(len(types), 4)}
	g.words = g.vocabulary()
	for _, step := range []func() error{g.writeNodes, g.writeEdges, g.writeQueries, g.writeTransactions, g.writeMeta} {
		if err := step(); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
	}
	return nil
}

// vocabulary makes distinct words of three syllables; four English words that
// could come out are left out.
func (g *generator) vocabulary() []string {
	const consonants, vowels = "bdfgjklmnprstvz", "aeiou"
	r := newStream(g.seed, 11)
	seen := map[string]bool{"before": true, "beside": true, "refuge": true, "nobody": true}
	out := make([]string, 0, vocabulary)
	for len(out) < vocabulary {
		var w [6]byte
		for k := 0; k < 6; k += 2 {
			w[k] = consonants[r.below(len(consonants))]
			w[k+1] = vowels[r.below(len(vowels))]
		}
		if s := string(w[:]); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func (g *generator) node(id int, r *stream) node {
	n := node{id: id, label: labels[g.label.draw(r)]}
	words := make([]string, 30+r.below(21))
	for i := range words {
		words[i] = g.words[g.word.draw(r)]
	}
	n.content = strings.Join(words, " ")
	n.importance = math.Floor(r.float()*1e4+0.5) / 1e4
	n.createdAt = startSecond + r.below(spanSeconds)
	return n
}

func (n node) json() string {
	return fmt.Sprintf(`{"id":%d,"label":"%s","content":"%s","importance":%s,"created_at":%d}`, n.id, n.label, n.content, number(n.importance), n.createdAt)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (g *generator) writeNodes() error {
	return g.files("nodes.csv", "nodes.jsonl", func(csv, lines io.Writer) {
		fmt.Fprint(csv, "id,label,content,importance,created_at\n")
		r := newStream(g.seed, 21)
		for i := range g.n {
			n := g.node(i, r)
			g.bytes += len(n.content)
			fmt.Fprintf(csv, "%d,%s,%s,%s,%d\n", n.id, n.label, n.content, number(n.importance), n.createdAt)
			fmt.Fprintln(lines, n.json())
		}
	})
}

// drawEdges draws distinct (source, target, type) triples without self loops.
// Half of the targets share the sources' permutation, so that hubs are hubs both
// ways.
func (g *generator) drawEdges() {
	e := 5 * g.n
	r := newStream(g.seed, 31)
	g.permuted, g.shuffle = permutation(g.n, newStream(g.seed, 32)), permutation(g.n, newStream(g.seed, 33))
	from, to := newZipf(g.n, 2), newZipf(g.n, 3)
	g.src, g.dst, g.kind = make([]int32, e), make([]int32, e), make([]int8, e)
	g.outDegree, g.inDeg, g.firstType = make([]int32, g.n), make([]int32, g.n), make([]int8, g.n)
	seen := make(map[uint64]struct{}, e)
	for k := 0; k < e; {
		s := g.permuted[from.draw(r)]
		targets := g.shuffle
		if r.float() < 0.5 {
			targets = g.permuted
		}
		d, t := targets[to.draw(r)], g.typ.draw(r)
		key := (uint64(s)*uint64(g.n)+uint64(d))*8 + uint64(t)
		if _, ok := seen[key]; ok || s == d {
			continue
		}
		seen[key] = struct{}{}
		g.src[k], g.dst[k], g.kind[k] = s, d, int8(t)
		if g.outDegree[s] == 0 {
			g.firstType[s] = int8(t)
		}
		g.outDegree[s]++
		g.inDeg[d]++
		k++
	}
}

func (g *generator) writeEdges() error {
	g.drawEdges()
	return g.files("edges.csv", "edges.jsonl", func(csv, lines io.Writer) {
		fmt.Fprint(csv, "src,dst,type,weight\n")
		r := newStream(g.seed, 34)
		for k := range g.src {
			weight := number(math.Floor(r.float()*1e4+0.5) / 1e4)
			t := types[g.kind[k]]
			fmt.Fprintf(csv, "%d,%d,%s,%s\n", g.src[k], g.dst[k], t, weight)
			fmt.Fprintf(lines, `{"src":%d,"dst":%d,"type":"%s","weight":%s}`+"\n", g.src[k], g.dst[k], t, weight)
		}
	})
}

// Queries are the inputs of the read metrics.
type Queries struct {
	Point []int       `json:"point"`
	Hop1  []HopQuery  `json:"hop1"`
	Hop2  []int       `json:"hop2"`
	Hop3  []int       `json:"hop3"`
	Sp    [][2]int    `json:"sp"`
	Ft    [][2]string `json:"ft"`
	Agg   [][2]int64  `json:"agg"`
}

// HopQuery is a source node and a relation type: [id, "TYPE"] in JSON.
type HopQuery struct {
	Source int
	Type   string
}

// MarshalJSON writes the pair.
func (h HopQuery) MarshalJSON() ([]byte, error) { return json.Marshal([]any{h.Source, h.Type}) }

// UnmarshalJSON reads the pair.
func (h *HopQuery) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&h.Source, &h.Type})
}

func (g *generator) writeQueries() error {
	r := newStream(g.seed, 41)
	pick := func(n int, ok func(int) bool) []int {
		out := make([]int, 0, n)
		for len(out) < n {
			if x := r.below(g.n); ok(x) {
				out = append(out, x)
			}
		}
		return out
	}
	anyOut := func(x int) bool { return g.outDegree[x] > 0 }
	notHub := func(x int) bool { return g.outDegree[x] > 0 && g.outDegree[x] <= hubDegree }
	var q Queries
	q.Point = pick(5000, func(int) bool { return true })
	for _, x := range pick(5000, anyOut) {
		q.Hop1 = append(q.Hop1, HopQuery{x, types[g.firstType[x]]})
	}
	q.Hop2, q.Hop3 = pick(500, notHub), pick(200, notHub)
	for _, a := range pick(200, anyOut) {
		b := r.below(g.n)
		for b == a {
			b = r.below(g.n)
		}
		q.Sp = append(q.Sp, [2]int{a, b})
	}
	word := func() string { return g.words[int(50*math.Pow(100, r.float()))] } // ranks 50 to 5,000, log-uniform
	for range 200 {
		a := word()
		b := word()
		for b == a {
			b = word()
		}
		q.Ft = append(q.Ft, [2]string{a, b})
	}
	for range 50 {
		low := startSecond + int64(r.float()*spanSeconds*0.8)
		q.Agg = append(q.Agg, [2]int64{low, low + int64((0.02+r.float()*0.3)*spanSeconds)})
	}
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return g.file("queries.json", func(w io.Writer) { _, _ = w.Write(text) })
}

// writeTransactions makes single-record writes: a new node, an edge from it and
// an edge to it.
func (g *generator) writeTransactions() error {
	r := newStream(g.seed, 51)
	return g.file("writes.jsonl", func(w io.Writer) {
		for i := range writes {
			n := g.node(g.n+i, r)
			a, b := r.below(g.n), r.below(g.n)
			out := types[g.typ.draw(r)]
			in := types[g.typ.draw(r)]
			fmt.Fprintf(w, `{"node":%s,"edges":[{"src":%d,"dst":%d,"type":"%s","weight":0.5},{"src":%d,"dst":%d,"type":"%s","weight":0.25}]}`+"\n", n.json(), n.id, a, out, b, n.id, in)
		}
	})
}

func (g *generator) writeMeta() error {
	sorted := func(in []int32) []int32 {
		out := append([]int32(nil), in...)
		sort.Slice(out, func(i, j int) bool { return out[i] > out[j] })
		return out
	}
	out, in := sorted(g.outDegree), sorted(g.inDeg)
	zero := sort.Search(len(out), func(i int) bool { return out[i] == 0 })
	meta := struct {
		N, E     int
		Seed     uint32            `json:"seed"`
		Labels   []string          `json:"labels"`
		Types    []string          `json:"types"`
		HubLimit int               `json:"hub_outdeg_limit"`
		MaxOut   int32             `json:"max_out"`
		MaxIn    int32             `json:"max_in"`
		ZeroOut  int               `json:"zero_out"`
		Median   int32             `json:"median_out"`
		Bytes    int               `json:"content_bytes"`
		Sums     map[string]string `json:"sha256_16"`
	}{g.n, len(g.src), g.seed, labels, types, hubDegree, out[0], in[0], len(out) - zero, out[g.n>>1], g.bytes, g.sums}
	text, err := json.MarshalIndent(meta, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.dir, "meta.json"), text, 0o644)
}

func (g *generator) files(a, b string, write func(a, b io.Writer)) error {
	return g.file(a, func(wa io.Writer) {
		if err := g.file(b, func(wb io.Writer) { write(wa, wb) }); err != nil {
			fail(wa, err)
		}
	})
}

// file writes one file and keeps the first 16 digits of its SHA-256.
func (g *generator) file(name string, write func(io.Writer)) error {
	f, err := os.Create(filepath.Join(g.dir, name))
	if err != nil {
		return err
	}
	s := &sink{buffer: bufio.NewWriterSize(f, 1<<20), hash: sha256.New()}
	write(s)
	if err := s.buffer.Flush(); s.err == nil {
		s.err = err
	}
	if err := f.Close(); s.err == nil {
		s.err = err
	}
	g.sums[name] = hex.EncodeToString(s.hash.Sum(nil))[:16]
	return s.err
}

// sink remembers the first error, so that writers need not look at each.
type sink struct {
	buffer *bufio.Writer
	hash   hash.Hash
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	s.hash.Write(p)
	if _, err := s.buffer.Write(p); err != nil && s.err == nil {
		s.err = err
	}
	return len(p), nil
}

func fail(w io.Writer, err error) {
	if s, ok := w.(*sink); ok && s.err == nil {
		s.err = err
	}
}

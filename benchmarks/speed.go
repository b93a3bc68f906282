package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"engram"
	"engram/benchmarks/internal/graphgen"
	"engram/benchmarks/internal/textgen"
)

// SpeedOptions say what to measure.
type SpeedOptions struct {
	// Set is a folder made by Generate.
	Set string
	// Only names the metrics to run; empty means all. Loading always runs.
	Only []string
	// JSON prints one object a line in place of a table.
	JSON bool
}

// speedRow is one measured metric.
type speedRow struct {
	Metric   string   `json:"metric"`
	Size     string   `json:"size"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	P99      *float64 `json:"p99,omitempty"`
	Mean     *float64 `json:"mean,omitempty"`
	CPUMean  *float64 `json:"cpu_mean,omitempty"`
	Allocs   *float64 `json:"allocs_per_op,omitempty"`
	Visited  *float64 `json:"visited_per_op,omitempty"` // nodes and edges looked at and rows handled
	N        int      `json:"n"`
	Checksum string   `json:"checksum,omitempty"`
	OK       *bool    `json:"ok,omitempty"`
}

// ErrChecksum ends a benchmark in which a result was wrong.
var ErrChecksum = errors.New("a checksum or floor did not hold")

// ErrSize refuses a size of a graph to generate.
var ErrSize = errors.New("not a size")

// Generate writes the benchmark graph of a named size, or of a number of nodes,
// into dir.
func Generate(dir, size string, seed uint32) error {
	n, ok := graphgen.Sizes[size]
	if !ok {
		var err error
		if n, err = strconv.Atoi(size); err != nil || n < graphgen.MinNodes || n > graphgen.MaxNodes {
			return fmt.Errorf("bench generate: size %q: %w: want tiny, small, medium, large or a number of nodes from %d to %d",
				size, ErrSize, graphgen.MinNodes, graphgen.MaxNodes)
		}
	}
	return graphgen.Generate(dir, n, seed)
}

// InputCounts tells what GenerateInput wrote.
type InputCounts = textgen.Counts

// GenerateInput writes something to import into dir: of kind "chat" conversations.json
// of size MB, of "markdown" a folder notes with size files, of "memories"
// memories.jsonl with size lines.
func GenerateInput(dir, kind string, size int, seed uint64) (InputCounts, error) {
	return textgen.Generate(dir, kind, size, seed)
}

// expected are the published results for the default seed, by metric and size.
var expected = map[string]map[string]string{
	"point": {"small": "388248699092", "medium": "388829370074"},
	"hop1":  {"small": "9279:46738860", "medium": "9221:462640959"},
	"hop2":  {"small": "39087", "medium": "65793"},
	"hop3":  {"small": "151170", "medium": "421146"},
	"sp":    {"small": "169:797", "medium": "154:794"},
	"agg":   {"small": "88878:1514772", "medium": "844298:1505818"},
}

// speedRun is one run of the benchmark over one set.
type speedRun struct {
	ctx     context.Context
	set     string
	size    string
	meta    setMeta
	queries graphgen.Queries
	dir     string // the database
	db      *engram.DB
	only    []string
	serial  int // of unique
	// profiling runs every statement under PROFILE and sums up its hits.
	profiling bool
	hits      int64
	rows      []speedRow
}

type setMeta struct {
	N, E int
	Seed uint32 `json:"seed"`
}

// Speed loads the graph of a set, runs its write transactions and queries through
// EQL text, checks the results and prints what each took.
func Speed(ctx context.Context, opts SpeedOptions, out io.Writer) (err error) {
	r := &speedRun{ctx: ctx, set: opts.Set, only: opts.Only}
	if err := r.readSet(); err != nil {
		return fmt.Errorf("bench speed: %w", err)
	}
	for _, name := range opts.Only {
		if !slices.ContainsFunc(metrics, func(m metric) bool { return m.name == name }) {
			return fmt.Errorf("bench speed: no metric %q; there are %s", name, metricNames())
		}
	}
	work, err := os.MkdirTemp("", "engram-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r.dir = filepath.Join(work, "db")
	defer func() {
		if r.db != nil {
			if closeErr := r.db.Close(); err == nil {
				err = closeErr
			}
		}
	}()
	if err := r.load(); err != nil {
		return fmt.Errorf("bench speed: load: %w", err)
	}
	for _, m := range metrics {
		if len(r.only) > 0 && !slices.Contains(r.only, m.name) {
			continue
		}
		if err := m.run(r); err != nil {
			return fmt.Errorf("bench speed: %s: %w", m.name, err)
		}
	}
	return r.print(out, opts.JSON)
}

func (r *speedRun) readSet() error {
	for _, part := range []struct {
		file string
		into any
	}{{"meta.json", &r.meta}, {"queries.json", &r.queries}} {
		text, err := os.ReadFile(filepath.Join(r.set, part.file))
		if err != nil {
			return fmt.Errorf("%w; make a set with engramd bench generate", err)
		}
		if err := json.Unmarshal(text, part.into); err != nil {
			return fmt.Errorf("%s: %w", part.file, err)
		}
	}
	r.size = fmt.Sprint(r.meta.N)
	for name, n := range graphgen.Sizes {
		if n == r.meta.N {
			r.size = name
		}
	}
	return nil
}

// add appends a row, with its checksum held against the published one.
func (r *speedRun) add(row speedRow) {
	row.Size = r.size
	if want, ok := expected[row.Metric][r.size]; ok && r.meta.Seed == graphgen.DefaultSeed && row.OK == nil {
		right := row.Checksum == want
		row.OK = &right
	}
	r.rows = append(r.rows, row)
}

func (r *speedRun) print(out io.Writer, asJSON bool) error {
	passed, failed := 0, 0
	for _, row := range r.rows {
		switch {
		case row.OK == nil:
		case *row.OK:
			passed++
		default:
			failed++
		}
	}
	if asJSON {
		for _, row := range r.rows {
			line, err := json.Marshal(row)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
		}
	} else {
		printSpeedTable(out, r.rows)
	}
	fmt.Fprintf(out, "bench: passed %d, failed %d\n", passed, failed)
	if failed > 0 {
		return ErrChecksum
	}
	return nil
}

func printSpeedTable(out io.Writer, rows []speedRow) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tsize\tvalue\tunit\tp99\tmean\tcpu mean\tallocs\tvisited\tn\tchecksum\tok")
	optional := func(f *float64) string {
		if f == nil {
			return ""
		}
		return fmt.Sprintf("%.4f", *f)
	}
	for _, r := range rows {
		ok := ""
		whole := func(f *float64) string {
			if f == nil {
				return ""
			}
			return fmt.Sprintf("%.0f", *f)
		}
		if r.OK != nil {
			ok = map[bool]string{true: "yes", false: "NO"}[*r.OK]
		}
		fmt.Fprintf(t, "%s\t%s\t%.4f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Metric, r.Size, r.Value, r.Unit, optional(r.P99), optional(r.Mean), optional(r.CPUMean), whole(r.Allocs), whole(r.Visited), r.N, r.Checksum, ok)
	}
	t.Flush()
}

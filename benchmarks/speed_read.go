package benchmarks

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"engram"
	"engram/benchmarks/internal/graphgen"
)

// metric is one thing that bench speed measures.
type metric struct {
	name string
	run  func(*speedRun) error
}

// metrics run in this order: reading first, since writing changes the graph.
var metrics = []metric{
	{"point", (*speedRun).point},
	{"hop1", (*speedRun).hop1},
	{"hop2", func(r *speedRun) error { return r.hops(2, r.queries.Hop2) }},
	{"hop3", func(r *speedRun) error { return r.hops(3, r.queries.Hop3) }},
	{"sp", (*speedRun).shortestPaths},
	{"agg", func(r *speedRun) error { return r.agg("agg", "n.importance") }},
	{"agg_prop", func(r *speedRun) error { return r.agg("agg_prop", "size(n.content)") }},
	{"ft", (*speedRun).fullText},
	{"recall", (*speedRun).recall},
	{"ppr", (*speedRun).activate},
	{"plan_us", (*speedRun).planning},
	{"audit_s", (*speedRun).audit},
	{"warm_open_ms", (*speedRun).reopen},
	{"write_tx_per_s", (*speedRun).write},
	{"hop1_after_write", (*speedRun).hop1AfterWrite},
	{"point_after_write", (*speedRun).pointAfterWrite},
	{"load_notext_s", (*speedRun).loadWithoutText},
}

func metricNames() string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}

func (r *speedRun) query(text string, params map[string]any) (*engram.Result, error) {
	if !r.profiling || strings.HasPrefix(text, "EXPLAIN") {
		return r.db.Query(r.ctx, text, params)
	}
	res, err := r.db.Query(r.ctx, "PROFILE "+text, params)
	if err == nil {
		r.hits += hitsOf(res.Plan)
	}
	return res, err
}

func hitsOf(p *engram.Plan) int64 {
	n := p.Hits
	for _, in := range p.Inputs {
		n += hitsOf(in)
	}
	return n
}

// visited is how many nodes and edges an operation looks at and how many rows it
// handles, on an average: a figure that no other work on the machine changes.
func (r *speedRun) visited(n int, op func(i int) error) (*float64, error) {
	r.profiling, r.hits = true, 0
	defer func() { r.profiling = false }()
	for i := range n {
		if err := op(i); err != nil {
			return nil, err
		}
	}
	if r.hits == 0 {
		return nil, nil
	}
	mean := float64(r.hits) / float64(n)
	return &mean, nil
}

// measure runs op for 0..n-1 once unmeasured, at most 200 times, to warm caches
// as a daemon's are, then once measured.
func (r *speedRun) measure(name string, n int, op func(i int) error) (speedRow, error) {
	for i := range min(n, 200) {
		if err := op(i); err != nil {
			return speedRow{}, err
		}
	}
	took := make([]time.Duration, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	var total time.Duration
	for i := range n {
		start := time.Now()
		if err := op(i); err != nil {
			return speedRow{}, err
		}
		took[i] = time.Since(start)
		total += took[i]
	}
	cpuMean := milliseconds(cpuTime()-cpu) / float64(n)
	runtime.ReadMemStats(&after)
	allocs := float64(after.Mallocs-before.Mallocs) / float64(n)
	visited, err := r.visited(min(n, 200), op)
	if err != nil {
		return speedRow{}, err
	}
	mean, p99 := milliseconds(total)/float64(n), milliseconds(percentile(took, 99))
	return speedRow{Metric: name, Value: milliseconds(percentile(took, 50)), Unit: "ms", P99: &p99, Mean: &mean, CPUMean: &cpuMean, Allocs: &allocs, Visited: visited, N: n}, nil
}

func id(n int) string { return fmt.Sprint(n) }

func (r *speedRun) point() error {
	q := r.queries.Point
	sum := make([]int64, len(q))
	row, err := r.measure("point", len(q), func(i int) error {
		res, err := r.query("MATCH (n {id: $id}) RETURN n", map[string]any{"id": id(q[i])})
		if err != nil {
			return err
		}
		if len(res.Rows) != 1 {
			return fmt.Errorf("node %d: %d rows", q[i], len(res.Rows))
		}
		n := res.Rows[0][0].AsNode()
		sum[i] = 0
		for _, p := range n.Properties {
			switch p.Key {
			case "created_at":
				sum[i] += p.Value.AsInt() - 1577836800
			case "content":
				sum[i] += int64(len(p.Value.AsString()))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	row.Checksum = fmt.Sprint(total(sum))
	r.add(row)
	return nil
}

func (r *speedRun) hop1() error {
	q := r.queries.Hop1
	rows, sum := make([]int64, len(q)), make([]int64, len(q))
	row, err := r.measure("hop1", len(q), func(i int) error {
		res, err := r.query("MATCH (a {id: $id})-[r:"+q[i].Type+"]->(b) RETURN b.id, r.weight", map[string]any{"id": id(q[i].Source)})
		if err != nil {
			return err
		}
		rows[i], sum[i] = int64(len(res.Rows)), 0
		for _, row := range res.Rows {
			var n int64
			if _, err := fmt.Sscan(row[0].AsString(), &n); err != nil {
				return err
			}
			if !row[1].IsNumber() {
				return fmt.Errorf("edge without a weight from node %d", q[i].Source)
			}
			sum[i] += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	row.Checksum = fmt.Sprintf("%d:%d", total(rows), total(sum))
	r.add(row)
	return nil
}

func (r *speedRun) hops(k int, sources []int) error {
	counts := make([]int64, len(sources))
	text := fmt.Sprintf("MATCH (a {id: $id})-[*1..%d]->(b) WHERE b <> a RETURN count(DISTINCT b)", k)
	row, err := r.measure(fmt.Sprintf("hop%d", k), len(sources), func(i int) error {
		res, err := r.query(text, map[string]any{"id": id(sources[i])})
		if err != nil {
			return err
		}
		counts[i] = res.Rows[0][0].AsInt()
		return nil
	})
	if err != nil {
		return err
	}
	row.Checksum = fmt.Sprint(total(counts))
	r.add(row)
	return nil
}

func (r *speedRun) shortestPaths() error {
	q := r.queries.Sp
	found, lengths := make([]int64, len(q)), make([]int64, len(q))
	row, err := r.measure("sp", len(q), func(i int) error {
		res, err := r.query("MATCH p = shortestPath((a {id: $a})-[*..6]->(b {id: $b})) RETURN length(p)", map[string]any{"a": id(q[i][0]), "b": id(q[i][1])})
		if err != nil {
			return err
		}
		found[i], lengths[i] = int64(len(res.Rows)), 0
		if len(res.Rows) > 0 {
			lengths[i] = res.Rows[0][0].AsInt()
		}
		return nil
	})
	if err != nil {
		return err
	}
	row.Checksum = fmt.Sprintf("%d:%d", total(found), total(lengths))
	r.add(row)
	return nil
}

func (r *speedRun) agg(name, of string) error {
	q := r.queries.Agg
	counts, means := make([]int64, len(q)), make([]int64, len(q))
	text := "MATCH (n) WHERE n.created_at >= $low AND n.created_at < $high RETURN labels(n)[0] AS label, count(*), avg(" + of + ")"
	row, err := r.measure(name, len(q), func(i int) error {
		res, err := r.query(text, map[string]any{"low": q[i][0], "high": q[i][1]})
		if err != nil {
			return err
		}
		counts[i], means[i] = 0, 0
		for _, row := range res.Rows {
			counts[i] += row[1].AsInt()
			means[i] += int64(math.Round(row[2].AsFloat() * 1e4))
		}
		return nil
	})
	if err != nil {
		return err
	}
	row.Checksum = fmt.Sprintf("%d:%d", total(counts), total(means))
	if want, ok := expected[name][r.size]; ok && r.meta.Seed == graphgen.DefaultSeed {
		var count, mean int64
		if _, err := fmt.Sscanf(want, "%d:%d", &count, &mean); err != nil {
			return err
		}
		right := count == total(counts) && math.Abs(float64(mean-total(means))) <= 20 // sums of rounded means
		row.OK = &right
	}
	r.add(row)
	return nil
}

func (r *speedRun) recall() error {
	q := r.queries.Ft
	row, err := r.measure("recall", len(q), func(i int) error {
		_, err := r.query("RECALL $q DEPTH 2 LIMIT 10", map[string]any{"q": q[i][0] + " " + q[i][1]})
		return err
	})
	if err != nil {
		return err
	}
	r.add(row)
	return nil
}

// activate spreads activation from ten nodes at a time.
func (r *speedRun) activate() error {
	const seeds = 10
	q := r.queries.Point
	row, err := r.measure("ppr", len(q)/seeds, func(i int) error {
		var ids []any
		for _, p := range q[i*seeds : (i+1)*seeds] {
			ids = append(ids, id(p))
		}
		res, err := r.query("MATCH (n) WHERE n.id IN $ids WITH collect(n) AS start ACTIVATE start DEPTH 2 LIMIT 10 YIELD node, activation RETURN node.id, activation",
			map[string]any{"ids": ids})
		if err == nil && len(res.Rows) != seeds {
			return fmt.Errorf("ppr: %d rows from %d nodes", len(res.Rows), seeds)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.add(row)
	return nil
}

func total(values []int64) int64 {
	var sum int64
	for _, v := range values {
		sum += v
	}
	return sum
}

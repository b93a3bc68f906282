package benchmarks

import (
	"fmt"
	"time"

	"engram"
)

// planning measures what a one-line statement costs before it runs: as EXPLAIN of
// a statement that was never seen, and of one that the cache has, each without
// what a statement costs that needs no planning at all.
func (r *speedRun) planning() error {
	const n = 2000
	statement := "EXPLAIN MATCH (a {id: $id})-[r:KNOWS]->(b) WHERE b.importance > %d RETURN b.id, r.weight ORDER BY r.weight LIMIT 10"
	fresh, err := r.measure("plan_us", n, func(i int) error {
		_, err := r.query(fmt.Sprintf(statement, r.unique()), nil)
		return err
	})
	if err != nil {
		return err
	}
	known := fmt.Sprintf(statement, 0)
	cached, err := r.measure("plan_cached_us", n, func(int) error {
		_, err := r.query(known, nil)
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range []speedRow{fresh, cached} {
		row.Unit, row.Value = "us", row.Value*1000
		*row.P99, *row.Mean, *row.CPUMean = *row.P99*1000, *row.Mean*1000, *row.CPUMean*1000
		r.add(row)
	}
	return nil
}

// unique returns a number that was not returned before.
func (r *speedRun) unique() int {
	r.serial++
	return r.serial
}

// hop1AfterWrite is hop1 with a durable write between every two reads; only the
// reads are measured. So is hop1_after_pause, with a wait as long as the write in
// its place: what a read after a write takes longer than that is the database's
// doing, the rest is that of a processor that has slept while the disk worked.
func (r *speedRun) hop1AfterWrite() error {
	q := r.queries.Hop1
	return r.afterWrite("hop1", len(q), func(i int) (*engram.Result, error) {
		return r.query("MATCH (a {id: $id})-[r:"+q[i].Type+"]->(b) RETURN b.id, r.weight", map[string]any{"id": id(q[i].Source)})
	})
}

func (r *speedRun) pointAfterWrite() error {
	q := r.queries.Point
	return r.afterWrite("point", len(q), func(i int) (*engram.Result, error) {
		return r.query("MATCH (n {id: $id}) RETURN n", map[string]any{"id": id(q[i])})
	})
}

func (r *speedRun) afterWrite(name string, m int, read func(i int) (*engram.Result, error)) error {
	n := min(m, 500)
	took, paused := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		began := time.Now()
		_, err := r.query("MATCH (a {id: $id}) CREATE (n:Note {id: $new})-[:RELATED]->(a)",
			map[string]any{"id": id(r.queries.Point[i%len(r.queries.Point)]), "new": fmt.Sprint("after-", r.unique())})
		if err != nil {
			return err
		}
		wrote := time.Since(began)
		if took[i], err = timed(read, i); err != nil {
			return err
		}
		time.Sleep(wrote)
		if paused[i], err = timed(read, (i+n)%m); err != nil {
			return err
		}
	}
	r.addTimes(name+"_after_write", took)
	r.addTimes(name+"_after_pause", paused)
	return nil
}

func timed(read func(i int) (*engram.Result, error), i int) (time.Duration, error) {
	start := time.Now()
	_, err := read(i)
	return time.Since(start), err
}

func (r *speedRun) addTimes(name string, took []time.Duration) {
	var total time.Duration
	for _, d := range took {
		total += d
	}
	mean, p99 := milliseconds(total)/float64(len(took)), milliseconds(percentile(took, 99))
	r.add(speedRow{Metric: name, Value: milliseconds(percentile(took, 50)), Unit: "ms", P99: &p99, Mean: &mean, N: len(took)})
}

package benchmarks

import (
	"runtime"
	"time"
)

// audit measures a whole audit: how long it takes, how much processor time of that, and
// what it allocates, which is the most that it can make the process grow. It holds when
// the audit saw every edge and found none that is not whole.
func (r *speedRun) audit() error {
	if _, err := r.db.Audit(r.ctx, nil); err != nil { // and so the vectors are open
		return err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	report, err := r.db.Audit(r.ctx, nil)
	if err != nil {
		return err
	}
	took, used := time.Since(start).Seconds(), (cpuTime() - cpu).Seconds()
	runtime.ReadMemStats(&after)
	f := report.Finding("orphans_and_dangling")
	ok := f.Measure("edge_records") == int64(r.meta.E) && f.Measure("dangling") == int64(0)
	r.add(speedRow{Metric: "audit_s", Value: took, Unit: "s", CPUMean: &used, N: 1, OK: &ok})
	r.add(speedRow{Metric: "audit_alloc_mb", Value: float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20), Unit: "MB", N: 1})
	return nil
}

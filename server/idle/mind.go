package idle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"engram"
)

// DB is the database that a Mind thinks about; engram.DB is one.
type DB interface {
	Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
	DrainLearning(ctx context.Context) error
}

// Finding is a proposal. Nobody carries it out.
type Finding struct {
	Kind     string   `json:"kind" enum:"link,question,gauge"`
	Producer string   `json:"producer"`
	Nodes    []string `json:"nodes"` // external ids
	Text     string   `json:"text"`
	// Statement is what would carry the proposal out; empty for a question. Its $from
	// and $to are the nodes in their order.
	Statement string `json:"statement,omitempty"`
}

// Gauge tells how a producer fares. Failing, finding nothing, and finding the same
// again are different things: the first wants to be mended, the second is well, the
// third means that nobody reads what it finds, or that it looks at one thing only.
type Gauge struct {
	Producer    string    `json:"producer"`
	Beats       int64     `json:"beats"`
	Failed      int64     `json:"failed"`
	Empty       int64     `json:"empty"`
	FailedInRow int       `json:"failed_in_row"`
	EmptyInRow  int       `json:"empty_in_row"`
	SameInRow   int       `json:"same_in_row"` // how often what it found was what it had found before
	LastError   string    `json:"last_error,omitempty"`
	LastBeat    time.Time `json:"last_beat"`
}

// Report is what a beat brought.
type Report struct {
	At       time.Time `json:"at"`
	Findings []Finding `json:"findings"`
	Gauges   []Gauge   `json:"gauges"`
}

// Alarm is how often in a row a producer has to fail, or to find the same again, before
// that is a finding itself.
const Alarm = 3

// beatLimits bound each statement of a beat, so that thinking never keeps those waiting
// who ask.
var beatLimits = engram.Limits{ReadOnly: true, Time: 2 * time.Second, Memory: 32 << 20, Rows: 1000}

// Mind thinks about one namespace. It keeps in memory what it needs between two beats.
// All methods are safe for concurrent use.
type Mind struct {
	now       func() time.Time
	producers []producer

	beating sync.Mutex // held during a beat

	mu     sync.Mutex // guards all below
	report *Report
	gauges map[string]*gauge
}

type gauge struct {
	Gauge
	last string // a fingerprint of the findings before
}

// producer makes findings of one kind.
type producer struct {
	name string
	run  func(ctx context.Context, db DB, at time.Time) ([]Finding, error)
}

// New makes a mind that has not thought yet. A nil clock is time.Now.
func New(now func() time.Time) *Mind {
	if now == nil {
		now = time.Now
	}
	m := &Mind{now: now, producers: []producer{{"links", (&linker{}).run}, {"contradictions", contradictions}, {"unfinished", unfinished}, {"doubts", doubts}}, gauges: map[string]*gauge{}}
	for _, p := range m.producers {
		m.gauges[p.name] = &gauge{Gauge: Gauge{Producer: p.name}}
	}
	return m
}

// Last returns the report of the last beat, nil before the first.
func (m *Mind) Last() *Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.report
}

// Beat thinks once: every producer looks, then the learning queue is written, then the
// gauges are reviewed. What a producer fails with is in its gauge. Two beats do not
// overlap: the second waits. When ctx ends the beat counts for nothing.
func (m *Mind) Beat(ctx context.Context, db DB) (*Report, error) {
	m.beating.Lock()
	defer m.beating.Unlock()
	at := m.now()
	report := &Report{At: at, Findings: []Finding{}}
	results := make([]outcome, 0, len(m.producers)+1)
	for _, p := range m.producers {
		findings, err := p.run(engram.WithLimits(ctx, beatLimits), db, at)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		results = append(results, outcome{p.name, findings, err})
	}
	results = append(results, outcome{name: "learning", err: db.DrainLearning(ctx)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range results {
		m.countLocked(o, at)
		report.Findings = append(report.Findings, o.findings...)
	}
	for _, name := range slices.Sorted(maps.Keys(m.gauges)) {
		g := m.gauges[name]
		report.Gauges = append(report.Gauges, g.Gauge)
		report.Findings = append(report.Findings, review(g.Gauge)...)
	}
	m.report = report
	return report, nil
}

type outcome struct {
	name     string
	findings []Finding
	err      error
}

// countLocked brings a gauge up to date. The learning queue, which finds nothing, can
// only fail.
func (m *Mind) countLocked(o outcome, at time.Time) {
	g := m.gauges[o.name]
	if g == nil {
		g = &gauge{Gauge: Gauge{Producer: o.name}}
		m.gauges[o.name] = g
	}
	g.Beats++
	g.LastBeat = at
	if o.err != nil {
		g.Failed++
		g.FailedInRow++
		g.LastError = reason(o.err)
		return
	}
	g.FailedInRow, g.LastError = 0, ""
	if o.name == "learning" {
		return
	}
	if len(o.findings) == 0 {
		g.Empty++
		g.EmptyInRow++
		g.SameInRow, g.last = 0, ""
		return
	}
	g.EmptyInRow = 0
	print := fingerprint(o.findings)
	if print == g.last {
		g.SameInRow++
	} else {
		g.SameInRow = 0
	}
	g.last = print
}

// review says what is wrong with a producer.
func review(g Gauge) []Finding {
	switch {
	case g.FailedInRow >= Alarm:
		return []Finding{{Kind: "gauge", Producer: g.Producer, Nodes: []string{}, Text: "It failed " + strconv.Itoa(g.FailedInRow) + " times" + " in a row, with " + g.LastError + "."}}
	case g.SameInRow >= Alarm:
		return []Finding{{Kind: "gauge", Producer: g.Producer, Nodes: []string{}, Text: "It found the same " + strconv.Itoa(g.SameInRow) + " times" + " in a row: nobody decides about what it finds."}}
	}
	return nil
}

// reason tells of an error what may be shown and logged: its code, never content.
func reason(err error) string {
	var e *engram.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return "an error"
}

func fingerprint(findings []Finding) string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.Kind + "\x00" + strings.Join(f.Nodes, "\x00")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

package graph

import (
	"fmt"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// CheckReplay builds a topology from nothing but the log, as a follower would,
// and reports how it differs from the one in memory.
func (db *DB) CheckReplay() error {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	s := snap.Version()
	ed := topo.New(topo.Config{Columns: db.opts.HotColumns}).Edit()
	err = readLog(snap, db.seal, 0, func(_ store.Seq, e *logentry.Entry) error { return replayEntry(ed, s.keys, e) })
	if err != nil {
		return err
	}
	want, got := dump(s, s.topo), dump(s, ed.View())
	if !slices.Equal(want, got) {
		return fmt.Errorf("the log replays to\n%q\nwant\n%q", got, want)
	}
	return nil
}

// dump prints everything that a topology knows.
func dump(s *state, v *topo.Version) []string {
	out := []string{fmt.Sprint(v.NodeCount(0), v.EdgeCount(0), v.Doomed(100, nil))}
	buf := make([]value.NodeID, 1)
	for after := value.NodeID(0); ; after = buf[0] {
		if len(v.ScanNodes(0, after, buf)) == 0 {
			return out
		}
		id := buf[0]
		ms, _ := v.NodeCreated(id)
		line := fmt.Sprint(id, v.Labels(id, nil), ms)
		for k := uint32(1); int(k) <= s.names.Len(catalog.Key); k++ {
			if col, ok := s.keys.hot[value.KeyID(k)]; ok {
				x, state := v.Hot(id, col)
				line += fmt.Sprint(" ", col, state, x)
			}
		}
		for _, a := range v.Expand(id, value.Out, nil, nil) {
			ms, _ := v.EdgeCreated(a.Edge)
			line += fmt.Sprint(" ", a, ms)
			for _, attr := range []topo.EdgeAttr{topo.Weight, topo.Layer, topo.Inhibitory} {
				x, state := v.EdgeAttr(a.Edge, attr)
				line += fmt.Sprint(" ", state, x)
			}
			slot, _ := v.EdgeSlot(a.Edge)
			w, learned := v.LearnedSlot(slot)
			line += fmt.Sprint(" ", w, learned)
		}
		out = append(out, line)
	}
}

package graph

import (
	"fmt"

	"engram/graph/internal/key"
	"engram/graph/internal/learn"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// activity reads how nodes were used.
func (l *loaded) activity() error {
	all := activities{}
	err := l.scan(store.Activity, nil, nil, func(k, payload []byte) error {
		n, ok := key.ParseUint(k)
		b, err := learn.DecodeActivities(payload)
		if err == nil && !ok {
			err = errNoLearning
		}
		if err != nil {
			return l.seal.Damaged(store.Activity, k, err.Error())
		}
		all[n] = b
		return nil
	})
	l.state.activity = all
	return err
}

// learned lays what was learned of edges over a topology made from the records. What
// is left of edges that are gone is passed over.
func (l *loaded) learned(v *topo.Version) (*topo.Version, error) {
	ed := v.Edit()
	any := false
	from := []byte{weightsBucket}
	err := l.scan(store.Weights, from, key.After(from), func(k, payload []byte) error {
		n, ok := bucketNumber(k)
		b, err := learn.DecodeWeights(payload)
		if err == nil && !ok {
			err = errNoLearning
		}
		if err != nil {
			return l.seal.Damaged(store.Weights, k, err.Error())
		}
		for i, units := range b {
			id := value.EdgeID(n*learn.PerBucket + uint64(i))
			if _, lives := v.EdgeSlot(id); units == 0 || !lives {
				continue
			}
			any = true
			if err := ed.SetLearned(id, float32(learn.Float(units)), true); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !any {
		return v, err
	}
	return ed.Commit(v.Seq()), nil
}

// learning compares what was learned with what is in memory, both ways, and reads
// all that belongs to it.
func (c *checker) learning() error {
	inStore := map[value.EdgeID]int32{}
	err := c.scan(store.Weights, func(k, payload []byte) {
		if err := c.weightRecord(k, payload, inStore); err != nil {
			c.report.add("%v", c.db.seal.Damaged(store.Weights, k, err.Error()))
		}
	})
	if err != nil {
		return err
	}
	for id, units := range inStore {
		s, lives := c.s.topo.EdgeSlot(id)
		if !lives {
			continue // a deleted edge's weight goes with the next change of its bucket
		}
		if w, _ := c.s.topo.LearnedSlot(s); w != float32(learn.Float(units)) {
			c.report.add("edge %d has learned %v in the store and %v in the topology", id, learn.Float(units), w)
		}
	}
	buf := make([]value.EdgeID, 1024)
	for after := value.EdgeID(0); ; {
		ids := c.s.topo.ScanEdges(0, after, buf)
		if len(ids) == 0 {
			break
		}
		after = ids[len(ids)-1]
		for _, id := range ids {
			s, _ := c.s.topo.EdgeSlot(id)
			if w, learned := c.s.topo.LearnedSlot(s); learned && inStore[id] == 0 {
				c.report.add("edge %d has learned %v in the topology, and nothing in the store", id, w)
			}
		}
	}
	return c.activity()
}

func (c *checker) weightRecord(k, payload []byte, weights map[value.EdgeID]int32) error {
	switch k[0] {
	case weightsBucket:
		n, ok := bucketNumber(k)
		b, err := learn.DecodeWeights(payload)
		if err != nil || !ok {
			return orNoLearning(err)
		}
		for i, units := range b {
			if units != 0 {
				weights[value.EdgeID(n*learn.PerBucket+uint64(i))] = units
			}
		}
		return nil
	case weightsEvents:
		events, err := learn.DecodeEvents(payload)
		c.report.Learned += int64(len(events))
		return err
	case weightsPair:
		_, err := learn.DecodePair(payload)
		return err
	case weightsCounter:
		_, err := learn.DecodeCounters(payload)
		return err
	}
	return errNoLearning
}

func orNoLearning(err error) error {
	if err == nil {
		return errNoLearning
	}
	return err
}

// activity compares the buckets of nodes with those in memory.
func (c *checker) activity() error {
	n := 0
	err := c.scan(store.Activity, func(k, payload []byte) {
		bucket, ok := key.ParseUint(k)
		b, err := learn.DecodeActivities(payload)
		if err != nil || !ok {
			c.report.add("%v", c.db.seal.Damaged(store.Activity, k, fmt.Sprint(orNoLearning(err))))
			return
		}
		n++
		if used := c.s.activity[bucket]; used == nil || *used != *b {
			c.report.add("bucket %d of how nodes were used differs from the one in memory", bucket)
		}
	})
	if n < len(c.s.activity) {
		c.report.add("%d buckets of how nodes were used are in memory, %d in the store", len(c.s.activity), n)
	}
	return err
}

package graph

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/learn"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// What is learned from use lives in two spaces of its own, so that it never rewrites
// a node's record nor wakes the text index: Activity has buckets of nodes by number,
// Weights has buckets of edges, events, pairs and counters, by the first byte of the
// key.
const (
	weightsBucket  byte = 'w' // then the number of the bucket
	weightsEvents  byte = 'e' // then the number of the first event in the record
	weightsPair    byte = 'p' // then the two nodes, the smaller first
	weightsCounter byte = 'c'
)

// keptEvents is how many of the newest events can be listed and taken back.
const keptEvents = 100_000

// activities are the buckets of how nodes were used, by number. It is never changed,
// but replaced.
type activities map[uint64]*learn.Activities

func (a activities) of(id value.NodeID) learn.Activity {
	if b := a[uint64(id)/learn.PerBucket]; b != nil {
		return b[uint64(id)%learn.PerBucket]
	}
	return learn.Activity{}
}

// learning is what a writing transaction has learned so far.
type learning struct {
	activity map[uint64]*learn.Activities // changed buckets
	weights  map[uint64]*learn.Weights
	// other are changed records of the space Weights that are no buckets, by key: nil
	// for one that goes.
	other  map[string][]byte
	sets   []logentry.LearnedSet
	events []learn.Event
	count  learn.Counters
	// settles says that uses were told, so the counters have changed, and that what
	// processes before have lost is in them.
	settles bool
	out     map[value.NodeID]int64 // units learned for the edges that leave a node
}

// learning returns what the transaction learns into.
func (tx *Tx) learning() (*learning, error) {
	if err := tx.checkWrite(); err != nil {
		return nil, err
	}
	if tx.w.learn != nil {
		return tx.w.learn, nil
	}
	l := &learning{
		activity: map[uint64]*learn.Activities{}, weights: map[uint64]*learn.Weights{},
		other: map[string][]byte{}, out: map[value.NodeID]int64{},
	}
	var err error
	if l.count, err = tx.learnCounters(); err != nil {
		return nil, err
	}
	tx.w.learn = l
	return l, nil
}

// learnRecord reads a record of learning as the base has it; nil without one.
func (tx *Tx) learnRecord(space store.Space, k []byte) ([]byte, error) {
	if tx.w != nil && tx.w.learn != nil && space == store.Weights {
		if payload, changed := tx.w.learn.other[string(k)]; changed {
			return payload, nil
		}
	}
	sealed, err := tx.src.Get(space, k)
	if sealed == nil || err != nil {
		return nil, wrap(err)
	}
	return tx.open(space, k, sealed)
}

func (tx *Tx) learnCounters() (learn.Counters, error) {
	k := []byte{weightsCounter}
	payload, err := tx.learnRecord(store.Weights, k)
	if payload == nil || err != nil {
		return learn.Counters{}, err
	}
	c, err := learn.DecodeCounters(payload)
	if err != nil {
		return c, tx.damaged(store.Weights, k, err)
	}
	return c, nil
}

func activityKey(bucket uint64) []byte { return key.Uint(make([]byte, 0, 8), bucket) }

func weightsKey(kind byte, n ...uint64) []byte {
	k := append(make([]byte, 0, 17), kind)
	for _, v := range n {
		k = key.Uint(k, v)
	}
	return k
}

// activityBucket returns the transaction's own copy of a bucket.
func (tx *Tx) activityBucket(n uint64) *learn.Activities {
	l := tx.w.learn
	if l.activity[n] == nil {
		own := learn.Activities{}
		if b := tx.base.activity[n]; b != nil {
			own = *b
		}
		l.activity[n] = &own
	}
	return l.activity[n]
}

// weightsBucket returns the transaction's own copy of a bucket.
func (tx *Tx) weightsBucket(n uint64) (*learn.Weights, error) {
	l := tx.w.learn
	if l.weights[n] != nil {
		return l.weights[n], nil
	}
	k := weightsKey(weightsBucket, n)
	payload, err := tx.learnRecord(store.Weights, k)
	if err != nil {
		return nil, err
	}
	own := &learn.Weights{}
	if payload != nil {
		if own, err = learn.DecodeWeights(payload); err != nil {
			return nil, tx.damaged(store.Weights, k, err)
		}
	}
	for i := range own { // of edges that are gone
		if own[i] != 0 && !tx.edgeLives(value.EdgeID(n*learn.PerBucket+uint64(i))) {
			own[i] = 0
		}
	}
	l.weights[n] = own
	return own, nil
}

func (tx *Tx) edgeLives(id value.EdgeID) bool {
	_, _, _, ok := tx.topo.EdgeEnds(id)
	return ok
}

// addWeight adds units to what an edge has learned.
func (tx *Tx) addWeight(id value.EdgeID, units int32) error {
	b, err := tx.weightsBucket(uint64(id) / learn.PerBucket)
	if err != nil {
		return err
	}
	now := &b[uint64(id)%learn.PerBucket]
	*now += units
	if err := tx.w.ed.SetLearned(id, float32(learn.Float(*now)), *now != 0); err != nil {
		return tx.doom(wrap(err))
	}
	tx.w.learn.sets = append(tx.w.learn.sets, logentry.LearnedSet{ID: id, Units: *now})
	return tx.charge(24)
}

// AnyActivity reports whether any node was used, as was learned.
func (tx *Tx) AnyActivity() bool {
	return len(tx.base.activity) > 0 || tx.w != nil && tx.w.learn != nil && len(tx.w.learn.activity) > 0
}

// Activity returns how a node was used, as was learned.
func (tx *Tx) Activity(id value.NodeID) value.Activity {
	n := uint64(id) / learn.PerBucket
	a := tx.base.activity.of(id)
	if tx.w != nil && tx.w.learn != nil && tx.w.learn.activity[n] != nil {
		a = tx.w.learn.activity[n][uint64(id)%learn.PerBucket]
	}
	return value.Activity{Uses: int64(a.Uses), LastUsed: a.Last}
}

// LearnedWeight returns what was learned to add to an edge's asserted weight; 0 when
// nothing was.
func (tx *Tx) LearnedWeight(id value.EdgeID) float64 {
	s, ok := tx.topo.EdgeSlot(id)
	if !ok {
		return 0
	}
	w, _ := tx.topo.LearnedSlot(s)
	return float64(w)
}

// empty reports whether nothing was learned.
func (l *learning) empty() bool {
	return l == nil || !l.settles && len(l.activity)+len(l.weights)+len(l.other)+len(l.events) == 0
}

// keys is how many keys the learning writes, about.
func (l *learning) keys() int {
	if l == nil {
		return 0
	}
	return len(l.activity) + len(l.weights) + len(l.other) + len(l.events)/learn.PerRecord
}

// learnPuts appends what was learned, and returns how nodes were used from then on.
func (tx *Tx) learnPuts(puts []store.Put) ([]store.Put, activities, error) {
	l := tx.w.learn
	if l.empty() {
		return puts, tx.base.activity, nil
	}
	if err := tx.trimEvents(); err != nil {
		return nil, nil, err
	}
	seal := tx.db.seal
	next := maps.Clone(tx.base.activity)
	if next == nil {
		next = activities{}
	}
	for _, n := range slices.Sorted(maps.Keys(l.activity)) {
		put := store.Put{Space: store.Activity, Key: activityKey(n)}
		if b := l.activity[n]; *b == (learn.Activities{}) {
			delete(next, n)
		} else {
			next[n] = b
			put.Value = seal.Seal(store.Activity, put.Key, learn.AppendActivities(nil, b))
		}
		puts = append(puts, put)
	}
	for first := uint64(0); first < uint64(len(l.events)); first += learn.PerRecord {
		some := l.events[first:min(first+learn.PerRecord, uint64(len(l.events)))]
		l.other[string(weightsKey(weightsEvents, l.count.NextEvent+first))] = learn.AppendEvents(nil, some)
	}
	l.count.NextEvent += uint64(len(l.events))
	l.other[string([]byte{weightsCounter})] = learn.AppendCounters(nil, l.count)
	for n, b := range l.weights {
		k := string(weightsKey(weightsBucket, n))
		if l.other[k] = nil; *b != (learn.Weights{}) {
			l.other[k] = learn.AppendWeights(nil, b)
		}
	}
	return weightPuts(puts, seal, l.other), next, nil
}

func weightPuts(puts []store.Put, seal record.Sealer, changed map[string][]byte) []store.Put {
	for _, k := range slices.Sorted(maps.Keys(changed)) {
		put := store.Put{Space: store.Weights, Key: []byte(k)}
		if payload := changed[k]; payload != nil {
			put.Value = seal.Seal(store.Weights, put.Key, payload)
		}
		puts = append(puts, put)
	}
	return puts
}

// trimEvents gives up the oldest records of events beyond keptEvents, at most twice
// as many as are written, so that no commit pays for all.
func (tx *Tx) trimEvents() error {
	l := tx.w.learn
	after, kept := l.count.NextEvent+uint64(len(l.events)), uint64(keptEvents)
	if n := tx.db.opts.keptEvents; n != 0 {
		kept = n
	}
	if after <= kept {
		return nil
	}
	left := 2*len(l.events)/learn.PerRecord + 2
	var old [][]byte
	err := tx.src.Scan(store.Weights, []byte{weightsEvents}, weightsKey(weightsEvents, after-kept), func(k, _ []byte) bool {
		if len(k) != 9 || binary.BigEndian.Uint64(k[1:])+learn.PerRecord > after-kept || left == 0 {
			return false
		}
		old = append(old, slices.Clone(k))
		left--
		return true
	})
	if err != nil {
		return wrap(err)
	}
	for _, k := range old {
		payload, err := tx.learnRecord(store.Weights, k)
		if err != nil {
			return err
		}
		if payload == nil {
			continue // taken back by this transaction
		}
		events, err := learn.DecodeEvents(payload)
		if err != nil {
			return tx.damaged(store.Weights, k, err)
		}
		for _, e := range events {
			l.count.Settled = max(l.count.Settled, e.At)
		}
		l.other[string(k)] = nil
	}
	return nil
}

// errNoLearning stands for a record that names no learning.
var errNoLearning = errors.New("its key is none of learning")

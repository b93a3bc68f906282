package powerloss

import (
	"fmt"
	"math/rand/v2"
)

// State is one state in which a power cut could have left the directory.
type State struct {
	// At is how many events had happened; Kind tells what became of those that
	// were not durable.
	At   int
	Kind string
	// Acked and Begun are the newest transactions that were acknowledged and begun
	// when the power was cut, -1 for none.
	Acked, Begun int

	disk  *disk
	kinds map[int]bool
}

func (s *State) String() string {
	return fmt.Sprintf("power cut after event %d (%s), transaction %d acknowledged, %d begun", s.At, s.Kind, s.Acked, s.Begun)
}

// Store writes the state into dir, an empty directory.
func (s *State) Store(dir string) error { return s.disk.store(dir, s.kinds) }

// kinds of states, from the harshest to the kindest disk.
const (
	dropAll   = "nothing unsynced is kept"
	keepNames = "unsynced names are kept, contents are not"
	keepAll   = "all is kept"
	mixed     = "each change is kept, lost or torn"
	ordered   = "changes up to a point are kept, the last is torn"
)

// States hands out n states, spread evenly over the log, until yield returns
// false. The same seed gives the same states.
func (l *Log) States(n int, seed uint64, yield func(*State) bool) {
	random := rand.New(rand.NewPCG(seed, 1))
	var points []int
	for i := 0; i <= len(l.events); i++ {
		if i == 0 || l.events[i-1].op < opBegin {
			points = append(points, i)
		}
	}
	durable := l.base.fork()
	for inode := range durable.files {
		durable.files[inode] = append([]byte(nil), durable.files[inode]...)
	}
	var pending []int // events that are not durable, ascending
	at, done := 0, 0
	for k, point := range points {
		for ; at < point; at++ {
			e := &l.events[at]
			switch {
			case e.op == opSync:
				pending = settle(durable, l.events, pending, e)
			case e.op < opSync:
				pending = append(pending, at)
			}
		}
		for want := (k + 1) * n / len(points); done < want; done++ {
			if !yield(l.state(durable, pending, point, done, random)) {
				return
			}
		}
	}
}

// Kills hands out n states in which a kill could have left the directory: all that
// was done before it is there, for the system goes on. It spreads them evenly over
// the log, until yield returns false.
func (l *Log) Kills(n int, yield func(*State) bool) {
	now := l.base.fork()
	for inode := range now.files {
		now.files[inode] = append([]byte(nil), now.files[inode]...)
	}
	done := 0
	for i := 0; i <= len(l.events); i++ {
		for want := (i + 1) * n / (len(l.events) + 1); done < want; done++ {
			s := &State{At: i, Kind: "killed", disk: now.fork(), kinds: l.kinds}
			s.Acked, s.Begun = l.bounds(i)
			if !yield(s) {
				return
			}
		}
		if i < len(l.events) {
			now.apply(&l.events[i], nil)
		}
	}
}

// settle makes durable what a sync covers and returns the rest.
func settle(durable *disk, events []event, pending []int, sync *event) (rest []int) {
	for _, i := range pending {
		if e := &events[i]; e.place() == sync.inode && i < sync.begun {
			durable.apply(e, nil)
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// state builds one state; k chooses its kind.
func (l *Log) state(durable *disk, pending []int, point, k int, random *rand.Rand) *State {
	s := &State{At: point, kinds: l.kinds, disk: durable.fork(), Kind: keepAll}
	s.Acked, s.Begun = l.bounds(point)
	events := make([]*event, len(pending))
	for i, at := range pending {
		events[i] = &l.events[at]
	}
	s.disk.own(events)
	if len(events) > 0 {
		s.Kind = []string{mixed, dropAll, mixed, keepAll, ordered, mixed, keepNames, ordered}[k%8]
	}
	half := func() bool { return random.IntN(2) == 0 }
	last := 0
	if len(events) > 0 {
		last = random.IntN(len(events))
	}
	for i, e := range events {
		names := e.op == opLink || e.op == opUnlink || e.op == opRename || e.op == opExchange
		switch {
		case s.Kind == keepAll, s.Kind == keepNames && names, s.Kind == ordered && i < last:
			s.disk.apply(e, nil)
		case s.Kind == ordered && i == last:
			s.disk.apply(e, half)
		case s.Kind == mixed:
			switch random.IntN(3) {
			case 0:
				s.disk.apply(e, nil)
			case 1:
				if e.op == opWrite {
					s.disk.apply(e, half)
				}
			}
		}
	}
	return s
}

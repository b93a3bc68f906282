package commit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tidwall/btree"

	"engram/graph/internal/store"
)

// undoOverhead is what a kept value costs beside its bytes, roughly.
const undoOverhead = 96

// prior is the value that a key had until the group ending at end became durable.
type prior struct {
	end   store.Seq
	value []byte
}

// priorValues are those of one group.
type priorValues struct {
	end   store.Seq
	keys  []spaceKey
	value [][]byte
	bytes int
}

type spaceKey struct {
	space store.Space
	key   string
}

// readPrior reads what the group overwrote from the reader before it.
func readPrior[V any](base store.Reader, end store.Seq, group []*writeSet[V]) (*priorValues, error) {
	p := &priorValues{end: end}
	seen := make(map[spaceKey]bool)
	for _, ws := range group {
		for _, put := range ws.puts {
			k := spaceKey{put.Space, string(put.Key)}
			if !seen[k] {
				seen[k] = true
				p.keys = append(p.keys, k)
			}
		}
	}
	for _, k := range p.keys {
		v, err := base.Get(k.space, []byte(k.key))
		if err != nil {
			return nil, err
		}
		p.value = append(p.value, v)
		p.bytes += len(k.key) + len(v) + undoOverhead
	}
	return p, nil
}

// undo keeps prior values for the long snapshots, oldest group first.
type undo struct {
	spaces [store.SpaceCount]btree.Map[string, []prior] // ascending by end
	groups []*priorValues
	bytes  int
}

func (u *undo) add(p *priorValues) {
	for i, k := range p.keys {
		list, _ := u.spaces[k.space].Get(k.key)
		u.spaces[k.space].Set(k.key, append(list, prior{p.end, p.value[i]}))
	}
	u.groups = append(u.groups, p)
	u.bytes += p.bytes
}

// trim drops what no snapshot at or above oldest needs.
func (u *undo) trim(oldest store.Seq) {
	n := 0
	for n < len(u.groups) && u.groups[n].end <= oldest {
		p := u.groups[n]
		for _, k := range p.keys {
			list, _ := u.spaces[k.space].Get(k.key)
			if len(list) <= 1 {
				u.spaces[k.space].Delete(k.key)
			} else {
				u.spaces[k.space].Set(k.key, list[1:])
			}
		}
		u.bytes -= p.bytes
		n++
	}
	u.groups = slices.Delete(u.groups, 0, n)
}

// at returns the value that the key had at seq, ok if it changed since.
func at(list []prior, seq store.Seq) (value []byte, ok bool) {
	for _, p := range list {
		if p.end > seq {
			return p.value, true
		}
	}
	return nil, false
}

func (u *undo) get(space store.Space, key []byte, seq store.Seq) (value []byte, ok bool) {
	if u.spaces[space].Len() == 0 {
		return nil, false
	}
	list, _ := u.spaces[space].Get(string(key))
	return at(list, seq)
}

func (u *undo) changes(space store.Space, from, to []byte, seq store.Seq) []change {
	var out []change
	u.spaces[space].Ascend(string(from), func(k string, list []prior) bool {
		key := []byte(k)
		if to != nil && bytes.Compare(key, to) >= 0 {
			return false
		}
		if v, ok := at(list, seq); ok {
			out = append(out, change{key, v})
		}
		return true
	})
	return out
}

// boundLongsLocked gives up long snapshots that are over their age or make the
// undo values too large, oldest first.
func (e *Engine[V]) boundLongsLocked() {
	now := e.opts.Now()
	for len(e.longs) > 0 {
		oldest := e.longs[0]
		switch {
		case now.Sub(oldest.opened) > e.opts.MaxLongAge:
			e.giveUpLocked(1, oldest.aged(e.opts.MaxLongAge))
		case e.undo.bytes > e.opts.MaxUndoBytes:
			e.giveUpLocked(1, fmt.Errorf("%w: keeping the state of seq %d took more than %d bytes of overwritten values; read in shorter transactions",
				ErrSnapshotTooOld, oldest.seq, e.opts.MaxUndoBytes))
		default:
			return
		}
	}
}

// giveUpLocked ends the n oldest long snapshots with an error.
func (e *Engine[V]) giveUpLocked(n int, err error) {
	for _, l := range e.longs[:n] {
		l.err = err
	}
	e.longs = slices.Delete(e.longs, 0, n)
	e.trimUndoLocked()
}

func (e *Engine[V]) trimUndoLocked() {
	if len(e.longs) == 0 {
		e.undo = undo{}
		return
	}
	e.undo.trim(e.longs[0].seq)
}

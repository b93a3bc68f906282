package audit

import (
	"slices"

	"engram/graph/value"
)

// nearWork joins documents whose contents are nearly the same.
type nearWork struct {
	w      *duplicateWork
	g      *groups
	from   float64 // the least likeness
	budget int64   // pairs left to compare

	compared, skipped int64
	apart             map[uint64]struct{} // pairs that are not alike, of earlier bands
	sets              map[uint32][]uint64 // shingles of documents compared lately
	labels            [2][]value.LabelID
}

const (
	// allPairs is up to which size all pairs of a bucket are compared; in larger ones
	// each document is compared with one of each group that is there, at most maxGroups.
	allPairs  = 64
	maxGroups = 64
	// keptSets and keptPairs bound what is remembered.
	keptSets  = 4096
	keptPairs = 1 << 20
)

// run goes over the bands: documents with the same key may be alike.
func (n *nearWork) run() error {
	n.apart, n.sets = map[uint64]struct{}{}, map[uint32][]uint64{}
	keys := n.w.keys
	for b := range bands {
		keys = keys[:0]
		for c, chunk := range n.w.docs {
			for i, key := range &chunk.keys[b] {
				if chunk.near[i/64]>>(i%64)&1 != 0 {
					keys = append(keys, uint64(key)<<32|uint64(c*docsPer+i))
				}
			}
		}
		sortByKey(keys, n.w.spare[:len(keys)])
		for i := 0; i < len(keys); {
			j := i + 1
			for j < len(keys) && keys[j]>>32 == keys[i]>>32 {
				j++
			}
			if j > i+1 {
				if err := n.bucket(keys[i:j]); err != nil {
					return err
				}
			}
			i = j
		}
	}
	return nil
}

// bucket compares documents that share a key.
func (n *nearWork) bucket(keys []uint64) error {
	if n.w.a.stopped() {
		return canceled(n.w.a.ctx)
	}
	if len(keys) <= allPairs {
		for j := range keys {
			for i := range j {
				if err := n.pair(uint32(keys[i]), uint32(keys[j])); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var heads []uint32 // one of each group
	for _, k := range keys {
		d, known := uint32(k), false
		for _, h := range heads {
			if err := n.pair(h, d); err != nil {
				return err
			}
			if known = n.g.find(h) == n.g.find(d); known {
				break
			}
		}
		switch {
		case known:
		case len(heads) < maxGroups:
			heads = append(heads, d)
		default:
			n.skipped += int64(len(keys) - maxGroups)
		}
	}
	return nil
}

// pair joins two documents if they share a label and are nearly the same.
func (n *nearWork) pair(i, j uint32) error {
	if n.g.find(i) == n.g.find(j) {
		return nil
	}
	key := uint64(i)<<32 | uint64(j)
	if _, ok := n.apart[key]; ok || !n.shareLabel(i, j) {
		return nil
	}
	if n.budget == 0 {
		n.skipped++
		return nil
	}
	n.budget--
	n.compared++
	a, err := n.set(i)
	if err != nil {
		return err
	}
	b, err := n.set(j)
	if err != nil {
		return err
	}
	if by := jaccard(a, b); by >= n.from {
		n.g.join(i, j, by)
	} else if len(n.apart) < keptPairs {
		n.apart[key] = struct{}{}
	}
	return nil
}

// set returns the shingles of a document, read anew when they were not used lately.
func (n *nearWork) set(i uint32) ([]uint64, error) {
	if s, ok := n.sets[i]; ok {
		return s, nil
	}
	v, err := n.w.a.tx.NodeProp(n.w.a.shape.NodeID(n.w.doc(i).slot), n.w.content)
	if err != nil {
		return nil, err
	}
	if len(n.sets) == keptSets {
		clear(n.sets)
	}
	n.sets[i] = n.w.shingler.set(v.AsString())
	return n.sets[i], nil
}

// shareLabel reports whether two documents have a label in common, or neither any.
func (n *nearWork) shareLabel(i, j uint32) bool {
	for k, d := range [2]uint32{i, j} {
		n.labels[k] = n.w.a.shape.Labels(n.w.a.shape.NodeID(n.w.doc(d).slot), n.labels[k][:0])
	}
	for _, l := range n.labels[0] {
		if slices.Contains(n.labels[1], l) {
			return true
		}
	}
	return len(n.labels[0])+len(n.labels[1]) == 0
}

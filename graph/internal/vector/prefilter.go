package vector

import "math/bits"

// candidate is an entry with its coarse score.
type candidate struct {
	at, coarse uint32
}

// funnel keeps the candidates with the best coarse scores: at least want, and all
// that are equal to the last of them, so that which ones they are does not depend
// on the order of entries.
type funnel struct {
	want  int
	limit int    // of kept, before the worst are dropped
	floor uint32 // no candidate below it is among the best
	kept  []candidate
	count []int // by coarse score

	touched uint32 // keeps loads that only warm the cache from being left out
}

func (f *funnel) reset(want int, floor uint32) {
	f.want, f.limit, f.floor, f.kept = want, 2*want, floor, f.kept[:0]
}

// narrow raises the floor to the coarse score of the last of the best.
func (f *funnel) narrow() {
	if len(f.kept) <= f.want {
		return
	}
	f.count = f.count[:0]
	for _, c := range f.kept {
		f.tally(c.coarse)
	}
	f.floor = f.lowest(f.want)
	best := f.kept[:0]
	for _, c := range f.kept {
		if c.coarse >= f.floor {
			best = append(best, c)
		}
	}
	f.kept = best
	f.limit = max(2*f.want, len(best)+f.want)
}

func (f *funnel) tally(coarse uint32) {
	for int(coarse) >= len(f.count) {
		f.count = append(f.count, 0)
	}
	f.count[coarse]++
}

// lowest returns the greatest score that at least n of those tallied reach.
func (f *funnel) lowest(n int) uint32 {
	at := len(f.count)
	for seen := 0; seen < n && at > 0; {
		at--
		seen += f.count[at]
	}
	return uint32(at)
}

// sampled is of how many chunks one is looked at for a first guess of the floor.
const sampled = 16

// prefilter fills the funnel with the best of all entries that the view sees. It
// starts with a floor guessed low from some chunks; if that was too high it starts
// over without. The outcome is the same.
func (v *View) prefilter(q *target, f *funnel, want int) {
	f.count = f.count[:0]
	total := 0
	v.eachCoarse(q, sampled, func(_ uint32, coarse []uint16) {
		total += len(coarse)
		for _, s := range coarse {
			f.tally(uint32(s))
		}
	})
	guess := f.lowest(want*total/int(v.n)*5/4 + 50)
	for _, floor := range [...]uint32{guess, 0} {
		f.reset(want, floor)
		v.eachCoarse(q, 1, func(base uint32, coarse []uint16) { v.gather(f, base, coarse) })
		f.narrow()
		if len(f.kept) >= want {
			return
		}
	}
}

// gather puts the entries of one chunk that reach the floor into the funnel.
func (v *View) gather(f *funnel, base uint32, coarse []uint16) {
	c := v.chunks[base>>chunkBits]
	for in, s := range coarse {
		if uint32(s) >= f.floor && v.sees(c, base+uint32(in), uint32(in)) {
			f.kept = append(f.kept, candidate{base + uint32(in), uint32(s)})
		}
	}
	if len(f.kept) >= f.limit {
		f.narrow()
	}
}

// eachCoarse calls fn with the number of a chunk's first entry and the coarse
// scores of its entries, for one of every so many chunks.
func (v *View) eachCoarse(q *target, every int, fn func(base uint32, coarse []uint16)) {
	var coarse [chunkSize]uint16
	w := words(v.gen.dim)
	for k := 0; k < len(v.chunks) && uint32(k)<<chunkBits < v.n; k += every {
		base, c := uint32(k)<<chunkBits, v.chunks[k]
		scores := coarse[:min(v.n-base, chunkSize)]
		if w == 1 {
			q.coarse64(scores, c.signs)
		} else {
			for in := range scores {
				scores[in] = uint16(q.coarse(c.signs[in*w:][:w])) // at most 7·MaxDim
			}
		}
		fn(base, scores)
	}
}

// coarse64 is coarse for many entries of up to 64 dimensions.
func (q *target) coarse64(out []uint16, signs []uint64) {
	signs = signs[:len(out)]
	differ, m0, m1, m2 := ^q.sign[0], q.masks[0][0], q.masks[1][0], q.masks[2][0]
	for i, s := range signs {
		agree := s ^ differ
		out[i] = uint16(bits.OnesCount64(agree&m0) + 2*bits.OnesCount64(agree&m1) + 4*bits.OnesCount64(agree&m2))
	}
}

package audit

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// shingleWords is how many words in a row make a shingle. A shorter text is one.
const shingleWords = 3

// A text's signature is hashed in bands of rows. Two texts whose shingles are alike
// by s share a band with a probability of 1-(1-s^rows)^bands: at 0.8 all but one of
// 96,000 pairs, at 0.2 one of 8.
const (
	bands    = 16
	bandRows = 3
)

// shingler turns texts into sets of shingles. Its buffers are used again.
type shingler struct {
	words []uint64
	out   []uint64
}

// shingles returns the hashes of a text's shingles in the order of the text; some may
// come twice. Case and what stands between words do not count. The result is valid
// until the next call; it is empty when there is no word.
func (s *shingler) shingles(text string) []uint64 {
	s.words, s.out = wordHashes(text, s.words[:0]), s.out[:0]
	if n := len(s.words); n > 0 && n < shingleWords {
		s.out = append(s.out, mix(s.words))
	}
	for i := shingleWords; i <= len(s.words); i++ {
		s.out = append(s.out, mix(s.words[i-shingleWords:i]))
	}
	return s.out
}

// set returns the sorted distinct shingles of a text, for keeping.
func (s *shingler) set(text string) []uint64 {
	out := slices.Clone(s.shingles(text))
	slices.Sort(out)
	return slices.Compact(out)
}

// FNV-1a, 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// wordHashes appends the hash of each word: a run of letters, numbers and marks.
func wordHashes(text string, out []uint64) []uint64 {
	h, in := uint64(fnvOffset), false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			default:
				if in {
					out, h, in = append(out, h), fnvOffset, false
				}
				continue
			}
			h, in = (h^uint64(c))*fnvPrime, true
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			if in {
				out, h, in = append(out, h), fnvOffset, false
			}
			continue
		}
		h, in = (h^uint64(unicode.ToLower(r)))*fnvPrime, true
	}
	if in {
		out = append(out, h)
	}
	return out
}

// mix makes one hash of several.
func mix(parts []uint64) uint64 {
	h := uint64(fnvOffset)
	for _, p := range parts {
		h ^= p
		h *= 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// factors are the multipliers of the hash functions, all odd.
var factors = func() (f [bands * bandRows / 2]uint64) {
	h := uint64(fnvOffset)
	for i := range f {
		h = mix([]uint64{h, uint64(i)})
		f[i] = h | 1
	}
	return f
}()

// bandKeys returns the key of each band of a text's signature.
func bandKeys(shingles []uint64) (keys [bands]uint32) {
	var least [bands * bandRows]uint32
	for i := range least {
		least[i] = ^uint32(0)
	}
	for _, x := range shingles {
		for i := 0; i < len(least); i += 2 {
			// The order is that of the upper bits, so one product is two hash functions.
			p := x * factors[i/2]
			least[i] = min(least[i], uint32(p>>32))
			least[i+1] = min(least[i+1], uint32(p>>16))
		}
	}
	for b := range keys {
		h := uint64(fnvOffset)
		for _, v := range least[b*bandRows : (b+1)*bandRows] {
			h = (h ^ uint64(v)) * 0x9e3779b97f4a7c15
			h ^= h >> 32
		}
		keys[b] = uint32(h)
	}
	return keys
}

// jaccard is how many shingles two sets share, of all that they have.
func jaccard(a, b []uint64) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// sortByKey sorts by the upper half and keeps the order of equal ones. spare is as
// long as x.
func sortByKey(x, spare []uint64) {
	const digit = 11
	into := x
	for shift := 32; shift < 64; shift += digit {
		var at [1 << digit]uint32
		for _, v := range x {
			at[v>>shift&(1<<digit-1)]++
		}
		sum := uint32(0)
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for _, v := range x {
			d := v >> shift & (1<<digit - 1)
			spare[at[d]] = v
			at[d]++
		}
		x, spare = spare, x
	}
	copy(into, x) // nothing, after an even number of passes
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
)

// word is one word of the source.
type word struct {
	text   string
	rank   int // position among all words of the source, from 0, most frequent first
	vector []float64
}

// readWords reads the first want usable words, by rank, of the package's JSON
// document: {"dimensions": D, "wordIndex": I, "size": N, "words": [...],
// "vectors": {word: [D values, norm, rank], ...}}. The document is large, so it is
// read as a stream and only as far as needed. size is the number of all words.
func readWords(r io.Reader, want int) (words []word, size int, err error) {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	if _, err := d.Token(); err != nil {
		return nil, 0, err
	}
	var dim int
	missing := map[string]int{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, 0, err
		}
		switch name {
		case "dimensions":
			err = d.Decode(&dim)
		case "size":
			err = d.Decode(&size)
		case "words":
			missing, err = chooseWords(d, want)
		case "vectors":
			if dim != sourceDim || len(missing) != want {
				return nil, 0, fmt.Errorf("%d dimensions and %d usable words before the vectors; want %d and %d", dim, len(missing), sourceDim, want)
			}
			words, err = readVectors(d, missing)
			return words, size, err
		default:
			var skipped any
			err = d.Decode(&skipped)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("field %v: %w", name, err)
		}
	}
	return nil, 0, errors.New("no vectors in the document")
}

// chooseWords reads the list of words, and returns the rank of the first want
// that are usable.
func chooseWords(d *json.Decoder, want int) (map[string]int, error) {
	var all []string
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	ranks := map[string]int{}
	for rank, w := range all {
		if usable(w) && len(ranks) < want {
			ranks[w] = rank
		}
	}
	return ranks, nil
}

// usable reports whether a word consists of letters a to z: other words are never
// looked up.
func usable(w string) bool {
	for _, c := range []byte(w) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return w != "" && len(w) <= maxWord
}

func readVectors(d *json.Decoder, missing map[string]int) ([]word, error) {
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var words []word
	for len(words) < len(missing) && d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var values []float64
		if err := d.Decode(&values); err != nil {
			return nil, err
		}
		text, _ := name.(string)
		rank, ok := missing[text]
		if !ok {
			continue
		}
		if len(values) != sourceDim+2 || int(values[sourceDim+1]) != rank {
			return nil, fmt.Errorf("the vector of %q does not have %d values and rank %d", text, sourceDim, rank)
		}
		words = append(words, word{text, rank, values[:sourceDim]})
	}
	if len(words) < len(missing) {
		return nil, fmt.Errorf("only %d of %d words have vectors", len(words), len(missing))
	}
	sort.Slice(words, func(i, j int) bool { return words[i].rank < words[j].rank })
	return words, nil
}

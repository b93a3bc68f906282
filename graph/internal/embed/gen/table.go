package main

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// encode lays the table out as package embed reads it.
func encode(words []word, vectors [][]float64, size int, source [32]byte) []byte {
	out := append([]byte("EGWV\x01\x00\x00\x00"), source[:]...)
	var text []byte
	for _, w := range words {
		text = append(append(text, w.text...), '\n')
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(len(words)))
	out = binary.LittleEndian.AppendUint32(out, tableDim)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	out = append(out, text...)
	harmonic := 0.0
	for r := range size {
		harmonic += 1 / float64(r+1)
	}
	for _, w := range words {
		out = binary.LittleEndian.AppendUint16(out, uint16(math.Round(idf(w.rank, harmonic)*1024)))
	}
	for _, v := range vectors {
		codes := quantise(v)
		for j := 0; j < tableDim; j += 2 {
			out = append(out, byte(codes[j]+8)|byte(codes[j+1]+8)<<4)
		}
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}

// idf estimates -ln of the share of memories that have a word. The source gives no
// counts, only ranks: by Zipf's law the word of rank r, from 0, makes up
// 1/((r+1)·H) of all text, and a memory of m words is without it with probability
// (1-p)^m.
func idf(rank int, harmonic float64) float64 {
	p := 1 / (float64(rank+1) * harmonic)
	return -math.Log(1 - math.Pow(1-p, memory))
}

// quantise returns the whole numbers from -7 to 7 whose direction is nearest to v's
// among 33 step sizes. The length of a row is not kept: all are of length 1.
func quantise(v []float64) []int {
	greatest := 0.0
	for _, x := range v {
		greatest = max(greatest, math.Abs(x))
	}
	var best []int
	bestCosine := -1.0
	for step := range 33 {
		scale := greatest / 7 * (1 - float64(step)/64)
		codes := make([]int, len(v))
		var along, norm float64
		for j, x := range v {
			c := min(max(math.Round(x/scale), -7), 7)
			codes[j] = int(c)
			along += float64(c * x)
			norm += float64(c * c)
		}
		if cosine := along / math.Sqrt(norm); cosine > bestCosine {
			best, bestCosine = codes, cosine
		}
	}
	return best
}

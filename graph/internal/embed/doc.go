// Package embed turns English text into vectors by a table of word vectors that is
// part of the program: it needs no model, no network and no configuration, and
// gives the same bits on every machine.
//
//	m, err := embed.Load()
//	v, ok := m.Embed("a crash on disconnect")
//
// The vector of a text is the mean of its words' vectors, weighted by an estimate
// of how rare they are, brought to length 1. TABLE.md says where the table comes
// from and under what licence; DESIGN.md how it is made and used.
package embed

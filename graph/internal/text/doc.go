// Package text is the full-text follower of a graph: an inverted index over the
// text of nodes, exact as of any recent transaction and scored by BM25 from
// statistics of its own.
//
//	ix, err := text.Open(text.Options{Dir: dir, Fields: []text.Field{{Name: "content", Weight: 1}}})
//	ix.Publish(seq, []text.Doc{{Node: 7, Fields: []text.FieldText{{Name: "content", Text: "a crash on disconnect"}}}})
//	view, err := ix.At(seq)
//	hits, err := view.Search(text.Query{Text: "crashes", Limit: 10})
//
// What is newest lies in a tail in memory, what is older in segments on disk
// that a goroutine writes behind; a search joins both, and its scores are equal
// to the bit wherever the line between them runs. See DESIGN.md.
package text

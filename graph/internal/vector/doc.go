// Package vector is the follower of a graph that finds nodes by the direction of
// their vectors: one space for each model that makes vectors, never mixed, exact
// as of any recent transaction.
//
//	ix, err := vector.Open(vector.Options{Dir: dir, Model: "words-64", Dim: 64})
//	ix.Publish(seq, []vector.Doc{{Node: 7, Vector: v}})
//	view, err := ix.At(seq)
//	hits, err := view.Search(vector.Query{Vector: q, Limit: 10})
//
// Vectors are kept in memory, a byte a dimension with a bit of sign beside it, and
// written to disk behind. Similarity is the cosine after the mean of the store
// was taken off both sides. What a search gives depends on the vectors that are
// there, not on the order they came in. See DESIGN.md.
package vector

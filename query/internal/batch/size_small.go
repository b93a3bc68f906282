//go:build invariants && !batch1

package batch

// Size is how many rows a batch holds at most: few, so that the statements of tests
// need several batches.
const Size = 7

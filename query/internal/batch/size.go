//go:build !invariants && !batch1

package batch

// Size is how many rows a batch holds at most.
const Size = 1024

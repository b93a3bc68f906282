//go:build batch1

package batch

// Size is how many rows a batch holds at most: one, so that nothing may depend on
// rows that come together.
const Size = 1

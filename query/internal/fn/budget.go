package fn

import (
	"engram/graph/value"
	"engram/query/internal/fault"
)

// Take asks for bytes of memory.
func (c *Context) Take(bytes int) error {
	c.taken += int64(bytes)
	if c.Grow != nil {
		if err := c.Grow(int64(bytes)); err != nil {
			return err
		}
	}
	return c.Pass(bytes)
}

// stepBytes is how much text, or how many values, are gone through in about the
// time of a step.
const stepBytes = 256

// Pass counts that some bytes of text or values are gone through at once: it
// tells Step when they are many.
func (c *Context) Pass(bytes int) error {
	if bytes < 2*stepBytes {
		return nil
	}
	return c.step(bytes / stepBytes)
}

// maxNesting is how deep values nest at most: going through one takes stack.
const maxNesting = 200

// Made checks a value that was just put together. Parts that it shares with others,
// or has several times, take no memory, but whoever goes through it meets them
// every time; so as a whole it must fit into the memory that is left.
func (c *Context) Made(v value.Value) error {
	if v.Depth() < 2 {
		return nil
	}
	if v.Depth() > maxNesting {
		return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
			"a value nests lists and maps more than %d levels deep", maxNesting)
	}
	if c.Grow == nil || v.Size() < 1<<10 {
		return nil
	}
	size := int64(v.Size())
	if err := c.Grow(size); err != nil {
		return err
	}
	return c.Grow(-size)
}

// Taken is what was taken so far, for a later GiveBack.
func (c *Context) Taken() int64 { return c.taken }

// GiveBack returns what was taken since Taken gave mark, for values that nobody
// holds any more.
func (c *Context) GiveBack(mark int64) {
	if d := c.taken - mark; d > 0 {
		c.taken = mark
		c.Return(d)
	}
}

// Return gives back bytes that were taken at any time.
func (c *Context) Return(bytes int64) {
	if c.Grow != nil && bytes > 0 {
		_ = c.Grow(-bytes) // giving back cannot fail
	}
}

func (c *Context) step(n int) error {
	if c.Step == nil {
		return nil
	}
	return c.Step(n)
}

package vector

import (
	"errors"
	"fmt"
	"math"
	"time"

	"engram/graph/value"
)

// Doc is the vector of one node as of one transaction.
type Doc struct {
	Node value.NodeID
	// Vector has the space's dimensions and any length but 0; only its direction
	// counts. Nil: the node has none, or is gone.
	Vector []float32
	// Pending says, with a nil Vector, that the node should have one which is still
	// to be made: Missing lists it and Fill brings it.
	Pending bool
}

// Options configure a space. The zero value of each field but Model and Dim is
// usable.
type Options struct {
	// Dir is the directory of all spaces of a database; this one has its own in it,
	// named by the model. Empty: everything stays in memory.
	Dir string
	// ReadOnly reads what is in Dir and writes nothing: what is of no use there is left
	// out, and what is published stays in memory.
	ReadOnly bool
	// Model names what makes the vectors. Vectors of different models never meet.
	Model string
	// Dim is the number of dimensions, 1 to MaxDim.
	Dim int
	// Identity names the database; a space of another one is set aside.
	Identity string
	// Head is the newest durable seq of the truth. A space that is ahead of it is set
	// aside: the truth was restored from a backup. 0: not known.
	Head uint64
	// FlushEvery is how long a change waits at most before it is written to disk; 0
	// means 1 s. FlushDocs flushes earlier; 0 means 4,096.
	FlushEvery time.Duration
	FlushDocs  int
}

// MaxDim is the greatest number of dimensions.
const MaxDim = 4096

// Errors; test with errors.Is.
var (
	// ErrClosed is returned by everything after Close.
	ErrClosed = errors.New("vectors: closed")
	// ErrGone is returned for a seq that the space can no longer, or not yet, show.
	ErrGone = errors.New("vectors: no view of this seq")
	// ErrVector is returned for a vector that has no direction, or not the space's
	// dimensions.
	ErrVector = errors.New("vectors: unusable vector")
)

func (o Options) filled() (Options, error) {
	if o.Model == "" || o.Dim < 1 || o.Dim > MaxDim {
		return o, fmt.Errorf("vectors: model %q with %d dimensions: want a name and 1 to %d dimensions", o.Model, o.Dim, MaxDim)
	}
	if o.FlushEvery == 0 {
		o.FlushEvery = time.Second
	}
	if o.FlushDocs == 0 {
		o.FlushDocs = 4096
	}
	return o, nil
}

// check tells what is wrong with a vector.
func (o *Options) check(v []float32) error {
	if len(v) != o.Dim {
		return fmt.Errorf("%w: %d dimensions; model %q makes %d", ErrVector, len(v), o.Model, o.Dim)
	}
	zero := true
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("%w: dimension %d is %v", ErrVector, i, x)
		}
		zero = zero && x == 0
	}
	if zero {
		return fmt.Errorf("%w: all dimensions are 0", ErrVector)
	}
	return nil
}

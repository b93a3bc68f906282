package topo

import (
	"math"
	"strconv"
	"testing"

	"engram/graph/value"
)

// exactWeight tells by way of text whether a weight is kept exactly: as a float32,
// or as the six decimals of one.
func exactWeight(w float64) bool {
	if math.IsNaN(w) {
		return false // its bits are not kept
	}
	rounded := float64(float32(w))
	decimals, _ := strconv.ParseFloat(strconv.FormatFloat(rounded, 'f', 6, 64), 64)
	return floatBits(rounded) == floatBits(w) || floatBits(decimals) == floatBits(w)
}

// Weights as people write them are answered from memory, others from the record;
// never by a number that is not the very one.
func TestWeightsAsWritten(t *testing.T) {
	e := New(Config{}).Edit()
	for _, id := range []value.NodeID{1, 2} {
		if err := e.AddNode(id, nil, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	var weights []float64
	for i := range 10_001 { // 0.0000 to 1.0000
		w, err := strconv.ParseFloat(strconv.FormatFloat(float64(i)/10_000, 'f', 4, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, w)
	}
	written := len(weights)
	weights = append(weights, 0.123456, -0.1, 3.14, 7.654321, 0.1234567, 1.0/3, math.Copysign(0, -1), math.Nextafter(0.1, 1),
		16777.123456, 1e300, -1e300, 5e-324, math.NaN(), math.Inf(1))
	exact := 0
	for i, w := range weights {
		id := value.EdgeID(i + 1)
		if err := e.AddEdge(id, 1, 2, 1, EdgeInit{}); err != nil {
			t.Fatal(err)
		}
		if err := e.SetEdgeAttr(id, Weight, value.Float(w)); err != nil {
			t.Fatal(err)
		}
		got, state := e.View().EdgeAttr(id, Weight)
		if state == Exact {
			exact++
			if floatBits(got.AsFloat()) != floatBits(w) {
				t.Errorf("weight %v is answered as %v", w, got.AsFloat())
			}
		}
		if (state == Exact) != (exactWeight(w) || i < written) {
			t.Errorf("weight %v: state %d", w, state)
		}
		// Overwritten by a number that has to be read, the flag is gone, too.
		if err := e.SetEdgeAttr(id, Weight, value.Float(1.0/3)); err != nil {
			t.Fatal(err)
		}
		if got, state := e.View().EdgeAttr(id, Weight); state != SeeRecord {
			t.Errorf("a third in place of %v is answered as %v", w, got)
		}
	}
	if exact < written+5 {
		t.Errorf("%d of %d weights are in memory", exact, len(weights))
	}
}

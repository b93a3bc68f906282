package recall

import "engram/graph/vocab"

// Tuning is what recall is tuned by, all in one place. Each value holds for
// memories in general; the scoreboard of engramd bench recall shows what a change
// does.
type Tuning struct {
	// Pool and PoolFactor say how many text hits are looked at: at least Pool,
	// and a multiple of the rows asked for.
	Pool, PoolFactor int
	// Seeds is how many of the best hits activation starts from, and SeedFloor
	// the share of the best score a seed needs: weak hits are mostly chance, and
	// their neighbours too.
	Seeds     int
	SeedFloor float64
	// SeedPower sharpens the weights of seeds: share of the best score to this
	// power.
	SeedPower float64
	// Restart and Residual bound the spread (see package activation).
	Restart, Residual float64
	// EdgesPerNode keeps a hub from flooding the answer.
	EdgesPerNode int
	// Activation is the weight of activation against the lexical score's 1.
	Activation float64
	// Factors scale edges by relation type, forward and backward: how much the
	// one end says about the other. Types without an entry have Other.
	Factors map[string][2]float64
	Other   [2]float64
}

// DefaultTuning is the tuning of RECALL.
func DefaultTuning() Tuning {
	return Tuning{
		Pool: 100, PoolFactor: 10,
		Seeds: 10, SeedFloor: 0.2, SeedPower: 1,
		Restart: 0.2, Residual: 1e-5, EdgesPerNode: 64,
		Activation: 1,
		Factors:    factors(), Other: [2]float64{1, 1},
	}
}

// factors scale edges by relation type, forward and backward: how much the
// one end says about the other. A container says little about any one of the
// things it holds; what a memory answers or follows says much. Types without
// a factor of their own spread as Other says.
func factors() map[string][2]float64 {
	out := map[string][2]float64{}
	for _, r := range vocab.BuiltIn() {
		if f := [2]float64{r.Forward, r.Backward}; f != [2]float64{1, 1} {
			out[r.Name] = f
		}
	}
	return out
}

package recall

// What recall is tuned by, all in one place. Each holds for memories in general;
// the scoreboard of engramd bench recall shows what a change does.
const (
	// lexicalPool and poolFactor say how many text hits are looked at: at least
	// the pool, and a multiple of the rows asked for.
	lexicalPool = 100
	poolFactor  = 10

	// seedCount is how many of the best hits activation starts from, and
	// seedFloor the share of the best score a seed needs: weak hits are mostly
	// chance, and their neighbours too.
	seedCount = 10
	seedFloor = 0.3

	// restart and residual bound the spread (see package activation).
	restart  = 0.4
	residual = 1e-5

	// edgesPerNode keeps a hub from flooding the answer.
	edgesPerNode = 64

	// activationShare is the weight of activation against the lexical score's 1.
	activationShare = 1.0
)

// factors scale edges by relation type, forward and backward: how much the
// one end says about the other. A container says little about any one of the
// things it holds; what a memory answers or follows says much. Types without
// a line spread with 1 both ways.
func factors() map[string][2]float64 {
	return map[string][2]float64{
		"TEMPORALLY_PRECEDES": {1, 0.8},
		"CONTAINS":            {0.05, 0.05},
		"CONTRADICTS":         {0, 0}, // inhibitory
		"SUPERSEDES":          {0, 1}, // from the old to what replaced it
	}
}

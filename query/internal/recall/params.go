package recall

import (
	"engram/activation"
	"engram/graph/vocab"
)

// Tuning is what recall is tuned by, all in one place. Each value holds for
// memories in general; the scoreboard of engramd bench recall shows what a change
// does.
type Tuning struct {
	// Pool and PoolFactor say how many text hits are looked at: at least Pool,
	// and a multiple of the rows asked for.
	Pool, PoolFactor int
	// Title is what those of the best TitleHits hits gain whose title stands in the query.
	Title     float64
	TitleHits int
	// Seeds is how many of the best hits activation starts from: weaker ones are mostly
	// chance, and their neighbours too.
	Seeds int
	// SeedPower sharpens the weights of seeds: share of the best score to this
	// power.
	SeedPower float64
	// Decay scales the second step and all after it: of transitive types, such as
	// order in time, where the neighbour's neighbour is near too, and of others.
	DecayTransitive, Decay float64
	// Residual is the least that still goes on (see activation.Steps).
	Residual float64
	// EdgesPerNode keeps a hub from flooding the answer.
	EdgesPerNode int
	// Hub is up to how many edges of a node, of the types that are spread over, are
	// followed at all. A node that FROM names has no such bound.
	Hub int
	// Activation is the weight of activation against the lexical score's 1.
	Activation float64
	// Semantic is the weight of similarity in meaning by itself, and SemanticAgreed what
	// it weighs besides where the memory's container is the one that is meant (see
	// Context): many texts are alike that have nothing to do with each other.
	Semantic, SemanticAgreed float64
	// SemanticPool is how many of the nearest nodes are candidates by similarity alone,
	// if they are as near as SemanticFloor. They are looked for where the text has fewer
	// hits than SemanticBelow: elsewhere none of them would be a row.
	SemanticPool  int
	SemanticBelow int
	SemanticFloor float64
	// Context is the weight of where a memory stands: what CONTAINS it, judged by
	// the best ContextHits text hits in it.
	Context     float64
	ContextHits int
	// Window is the share of a hit that what stands next to it in order gets, Window2
	// what stands one further, WindowAnswer what answers it. The WindowHits best texts
	// hand on, by words and WindowSemantic times similarity.
	Window, Window2, WindowAnswer float64
	WindowSemantic                float64
	WindowHits                    int
	// Speaker is how much more a memory counts whose speaker the query names: who
	// asks what Ann did mostly wants what Ann said. It never excludes the others.
	Speaker float64
	// Date is how much more a memory counts that is of a time which the query names as it
	// is seen from now, such as last week.
	Date float64
	// Learned is how much what an edge has learned counts beside what it asserts.
	Learned float64
	// SelfSeed is the weight of the self as a seed, against the best hit's 1.
	SelfSeed float64
	// Promotion holds what weighs memories by themselves and against each other.
	Promotion activation.Rules
	// Factors scale edges by relation type, forward and backward: how much the
	// one end says about the other. Types without an entry have Other.
	Factors map[string][2]float64
	Other   [2]float64
}

// DefaultTuning is the tuning of RECALL.
func DefaultTuning() Tuning {
	return Tuning{
		Pool: 1000, PoolFactor: 10,
		Title: 0.5, TitleHits: 20,
		Seeds: 5, SeedPower: 3,
		DecayTransitive: 0.5, Decay: 0.2, Residual: 1e-4, EdgesPerNode: 64, Hub: 1024,
		Activation: 0.5,
		Semantic:   0.03, SemanticAgreed: 0.3, SemanticPool: 20, SemanticBelow: 100, SemanticFloor: 0.75,
		Context: 0.4, ContextHits: 30,
		Window: 0.2, Window2: 0.15, WindowAnswer: 0.3, WindowSemantic: 0.4, WindowHits: 50,
		Speaker: 0.3, Date: 0.5, SelfSeed: 0.5, Promotion: rowRules(), Learned: 1,
		Factors: factors(), Other: [2]float64{1, 1},
	}
}

// similarRows is from where on two rows say the same.
const similarRows = 0.95

// rowRules are the rules by which rows hold each other back: more mildly than in
// working memory, since who recalls asked for the best there are, and a copy may be
// the one that is meant.
func rowRules() activation.Rules {
	r := activation.DefaultRules()
	r.Similar, r.Lateral = similarRows, 0.5
	return r
}

// The relation types that recall knows by name.
const (
	contains = "CONTAINS"
	precedes = "TEMPORALLY_PRECEDES"
	answers  = "ANSWERS"
)

// factors scale edges by relation type, forward and backward: how much the
// one end says about the other. A container says little about any one of the
// things it holds, so nothing spreads through it and Tuning.Context counts
// instead; what a memory answers or follows says much. Types without a factor of
// their own spread as Other says.
func factors() map[string][2]float64 {
	out := map[string][2]float64{contains: {}} // see Tuning.Context
	for _, r := range vocab.BuiltIn() {
		if f := [2]float64{r.Forward, r.Backward}; f != [2]float64{1, 1} && r.Name != contains {
			out[r.Name] = f
		}
	}
	return out
}

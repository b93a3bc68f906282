package audit

import (
	"fmt"
	"slices"
	"strings"
)

// typedEdgeDistribution counts edges by type and finds names that nearly are names
// of the vocabulary, or of a type that is used more.
func typedEdgeDistribution() rule {
	return rule{
		name:  "typed_edge_distribution",
		title: "Edges by type, the share inside the vocabulary, and types whose names nearly are others'.",
		begin: func(a *audit) (work, error) { return work{end: a.typesEnd}, nil },
	}
}

// nearType is a type whose name nearly is another's.
type nearType struct {
	name, target, why string
	count             int64
}

func (a *audit) typesEnd(f *Finding) error {
	f.How = "exact: counters of the snapshot, over all edges"
	vocabulary := a.tx.Vocabulary()
	total, inside := a.tx.EdgeCount(0), int64(0)
	used := map[string]int64{}
	for _, t := range a.tx.RelTypesInUse() {
		used[a.tx.RelTypeName(t)] = a.tx.EdgeCount(t)
	}
	var known []string
	for _, r := range vocabulary.All() {
		known = append(known, r.Name)
	}
	var near []nearType
	for _, name := range unionKeys(used, nil) {
		n := used[name]
		if _, ok := vocabulary.Lookup(name); ok {
			inside += n
			f.part("type", name, n, "")
			continue
		}
		target, why := likelyTarget(name, known, used)
		if target == "" {
			f.part("type", name, n, "not in the vocabulary")
			continue
		}
		f.part("type", name, n, why+" "+target)
		near = append(near, nearType{name, target, why, n})
	}
	f.measure("edges", total, "edges")
	f.measure("types", len(used), "types")
	f.measure("in_vocabulary", share(inside, total), "share")
	f.measure("edges_per_100_nodes", perHundred(total, a.tx.NodeCount(0)), "edges")
	f.measure("near_misses", len(near), "types")
	a.noteNear(f, near, total, inside)
	return nil
}

func (a *audit) noteNear(f *Finding, near []nearType, total, inside int64) {
	f.Count = int64(len(near))
	if total == 0 {
		f.Note = "There are no edges."
		return
	}
	f.Note = fmt.Sprintf("%d of %d edges have a type of the vocabulary.", inside, total)
	if len(near) == 0 {
		f.Note += " No type looks like another one misspelt."
		return
	}
	f.Status = Notice
	words := make([]string, len(near))
	for i, n := range near {
		words[i] = fmt.Sprintf("%s (%s) %s %s", n.name, plural(n.count, "edge"), n.why, n.target)
		a.suggest(f, fmt.Sprintf("MATCH (a)-[r:%s]->(b) WITH a, b, r, properties(r) AS kept DELETE r CREATE (a)-[s:%s]->(b) SET s = kept", named(n.name), named(n.target)))
	}
	f.Note += " Probably the same: " + strings.Join(words, "; ") + "."
}

// likelyTarget returns the name that another one was probably meant to be: of the
// vocabulary, or else of a type with more edges that no better target has itself.
func likelyTarget(name string, known []string, used map[string]int64) (target, why string) {
	if target, why = closest(name, known); target != "" {
		return target, why
	}
	var larger []string
	for _, other := range unionKeys(used, nil) {
		if used[other] > used[name] || used[other] == used[name] && other < name {
			larger = append(larger, other)
		}
	}
	return closest(name, larger)
}

// closest returns the first of the best kind of near miss.
func closest(name string, of []string) (target, why string) {
	best := len(nearKinds)
	for _, other := range of {
		if other == name {
			continue
		}
		for k := range best {
			if nearKinds[k].near(name, other) {
				best, target, why = k, other, nearKinds[k].why
				break
			}
		}
	}
	return target, why
}

// nearKinds are the ways in which a name may nearly be another, the surest first.
var nearKinds = []struct {
	why  string
	near func(a, b string) bool
}{
	{"differs by case from", strings.EqualFold},
	{"differs by hyphens or underscores from", func(a, b string) bool { return bare(a) == bare(b) }},
	{"is singular or plural of", func(a, b string) bool {
		return slices.Contains(singulars(bare(a)), bare(b)) || slices.Contains(singulars(bare(b)), bare(a))
	}},
	{"is one letter off", func(a, b string) bool {
		x, y := bare(a), bare(b)
		return min(len(x), len(y)) >= 5 && oneOff(x, y)
	}},
}

// bare is a name without what tells spellings apart.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// singulars lists what a name may be the plural, or the third person, of.
func singulars(name string) []string {
	var out []string
	if s, ok := strings.CutSuffix(name, "ies"); ok {
		out = append(out, s+"y")
	}
	if s, ok := strings.CutSuffix(name, "es"); ok {
		out = append(out, s)
	}
	if s, ok := strings.CutSuffix(name, "s"); ok && !strings.HasSuffix(s, "s") {
		out = append(out, s)
	}
	return out
}

// oneOff reports whether one letter was left out, added or changed, or two
// neighbours changed places.
func oneOff(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if distance(a, b) == 1 {
		return true
	}
	if len(x) != len(y) {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && string(x[i+2:]) == string(y[i+2:])
}

// share is part of a whole, nil when there is no whole.
func share(part, whole int64) any {
	if whole == 0 {
		return nil
	}
	return float64(part) / float64(whole)
}

func perHundred(n, of int64) any {
	if of == 0 {
		return nil
	}
	return 100 * float64(n) / float64(of)
}

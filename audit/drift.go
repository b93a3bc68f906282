package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/graph/vocab"
)

// schemaDrift compares the names that statements read and write with those that the
// graph has.
func schemaDrift() rule {
	return rule{
		name:  "schema_drift",
		title: "Names that statements read and nothing wrote, names that are there and never read, producers that moved, accesses past a declared owner.",
		thresholds: []Threshold{{
			Name: "min_statements", Default: 100, Min: 1, Max: 1e9,
			Meaning: "How many statements it takes before names that none of them read are worth a look.",
		}},
		begin: func(a *audit) (work, error) {
			return work{end: func(f *Finding) error { return newDrift(a, f).end() }}, nil
		},
	}
}

// nameKinds are the kinds of names that the graph keeps, in the order of the report.
var nameKinds = []UseKind{UseLabel, UseType, UseProperty}

type drift struct {
	a     *audit
	f     *Finding
	uses  map[UseKind]map[string]NameUse
	known map[UseKind][]string // that were ever written, the oldest first
	used  map[UseKind]map[string]bool
	parts map[string]int // by group
}

func newDrift(a *audit, f *Finding) *drift {
	return &drift{a: a, f: f, uses: map[UseKind]map[string]NameUse{}, known: map[UseKind][]string{}, used: map[UseKind]map[string]bool{}, parts: map[string]int{}}
}

func (d *drift) end() error {
	r := d.a.o.Reads
	if r == nil || r.Statements == 0 {
		d.f.Status = Unknown
		d.f.Note = "No statement was counted, so it is not known what is read and written."
		d.f.How = "the counts of statements that this engine keeps; there are none"
		return nil
	}
	d.f.How = fmt.Sprintf("over the %d statements that were counted since transaction %d, and the names that the graph has", r.Statements, r.Since.Seq)
	if r.LeftOut > 0 {
		d.f.How += "; " + amount(int64(r.LeftOut), "name found no room and is", "names found no room and are") + " missing"
	}
	for _, n := range r.Names {
		if d.uses[n.Kind] == nil {
			d.uses[n.Kind] = map[string]NameUse{}
		}
		if n.Kind != UseAccess {
			d.uses[n.Kind][n.Name] = n
		}
	}
	d.names()
	d.f.measure("statements", r.Statements, "statements")
	d.f.measure("names_left_out", r.LeftOut, "names")
	dead, moved, past, idle := d.deadReads(), d.moved(), d.pastOwner(), d.neverRead()
	computed := 0
	for _, n := range r.Names {
		if n.Kind == UseComputed {
			computed++
			d.part("computed", n.Name, n.Reads.Count+n.Writes.Count, "only a run knows the name")
		}
	}
	d.f.measure("dead_reads", dead, "names")
	d.f.measure("moved", moved, "names")
	d.f.measure("past_owner", past, "accesses")
	d.f.measure("never_read", idle, "names")
	d.f.measure("computed", computed, "names")
	if r.Statements < int64(d.a.threshold("min_statements")) {
		idle = 0
	}
	d.f.Count = int64(dead + moved + past + idle)
	d.note(dead, moved, past, idle, computed)
	return nil
}

// maxNamed is how many names of a group are listed.
const maxNamed = 1000

// part adds to the distribution.
func (d *drift) part(group, name string, n int64, note string) {
	if d.parts[group]++; d.parts[group] <= maxNamed {
		d.f.part(group, name, n, note)
	}
}

// names lists what the graph knows, and what of it is in use.
func (d *drift) names() {
	tx := d.a.tx
	for _, k := range nameKinds {
		d.used[k] = map[string]bool{}
	}
	for id := value.LabelID(1); tx.LabelName(id) != ""; id++ {
		d.known[UseLabel] = append(d.known[UseLabel], tx.LabelName(id))
		d.used[UseLabel][tx.LabelName(id)] = tx.NodeCount(id) > 0
	}
	for id := value.TypeID(1); tx.RelTypeName(id) != ""; id++ {
		d.known[UseType] = append(d.known[UseType], tx.RelTypeName(id))
		d.used[UseType][tx.RelTypeName(id)] = tx.EdgeCount(id) > 0
	}
	for id := value.KeyID(1); tx.KeyName(id) != ""; id++ {
		d.known[UseProperty] = append(d.known[UseProperty], tx.KeyName(id))
		d.used[UseProperty][tx.KeyName(id)] = true // nobody counts who has one
	}
}

// own are the names that the engine reads and writes itself.
var own = map[UseKind][]string{
	UseLabel: {
		vocab.LabelMemory, vocab.LabelNote, vocab.LabelLesson, vocab.LabelSafety, vocab.LabelValue, vocab.LabelVerdict, vocab.LabelTelemetry,
		"AuditRecord", labelExecution, labelPrediction, labelQuestion,
	},
	UseProperty: {
		"id", vocab.KeyContent, vocab.KeyStatus, vocab.KeyTier, vocab.KeyLayer, vocab.KeyImportance, vocab.KeyConfidence, vocab.KeyCreatedAt,
		vocab.KeyValidFrom, vocab.KeyValidTo, vocab.KeyUses, vocab.KeyLastUsed, vocab.KeyDecay, vocab.KeyOrigin, vocab.KeyConversation,
		vocab.KeyTags, vocab.KeyReason, vocab.KeyWeight, vocab.KeyInhibitory,
		"seq", "nodes", "relationships", "types", "type_counts", "self", "pillars", keyReceipt, keyOutcome, "pull", "uncertainty", "date", "forgotten_at", "resolved",
	},
}

func (d *drift) isOwn(k UseKind, name string) bool {
	if k == UseType {
		for _, r := range vocab.BuiltIn() {
			if r.Name == name {
				return true
			}
		}
	}
	return slices.Contains(own[k], name)
}

// deadReads lists names that were read and that nothing ever wrote.
func (d *drift) deadReads() (n int) {
	for _, k := range nameKinds {
		for _, name := range sortedNames(d.uses[k]) {
			u := d.uses[k][name]
			if u.Reads.Count == 0 || slices.Contains(d.known[k], name) || d.isOwn(k, name) {
				continue
			}
			n++
			note := "nothing ever wrote it"
			if target, why := closest(name, d.known[k]); target != "" {
				note += "; it " + why + " " + target
			}
			d.part("dead read", string(k)+" "+name, u.Reads.Count, note)
		}
	}
	return n
}

// moved lists names that are read although what wrote them seems to write a similar
// name since.
func (d *drift) moved() (n int) {
	for _, k := range nameKinds {
		for i, name := range d.known[k] {
			u := d.uses[k][name]
			if u.Reads.Count == 0 {
				continue
			}
			var later []string
			for _, other := range d.known[k][i+1:] { // first written later
				o := d.uses[k][other]
				if o.Writes.Count > 0 && u.Reads.Last.Seq >= o.Writes.First.Seq && (u.Writes.Count == 0 || u.Writes.Last.Seq < o.Writes.First.Seq) {
					later = append(later, other)
				}
			}
			target, why := closest(name, later)
			if target == "" {
				continue
			}
			n++
			last := "before counting began"
			if u.Writes.Count > 0 {
				last = fmt.Sprintf("at transaction %d", u.Writes.Last.Seq)
			}
			d.part("moved", string(k)+" "+name, u.Reads.Count, fmt.Sprintf("last written %s; it %s %s, written since transaction %d", last, why, target, d.uses[k][target].Writes.First.Seq))
		}
	}
	return n
}

// pastOwner lists properties that a constraint declares for some labels and that were
// read or written of nodes with other labels.
func (d *drift) pastOwner() (n int) {
	owners := map[string][]string{}
	for _, def := range d.a.tx.Schema().All() {
		if def.Edge || def.Kind != schema.Unique && def.Kind != schema.Exists {
			continue
		}
		for _, k := range def.Keys {
			owners[k] = append(owners[k], def.Owners()...)
		}
	}
	for _, u := range d.a.o.Reads.Names {
		if u.Kind != UseAccess || len(owners[u.Name]) == 0 {
			continue
		}
		if slices.ContainsFunc(u.Of, func(l string) bool { return slices.Contains(owners[u.Name], l) }) {
			continue
		}
		n++
		list := slices.Clone(owners[u.Name])
		slices.Sort(list)
		d.part("past owner", strings.Join(u.Of, ":")+"."+u.Name, u.Reads.Count+u.Writes.Count,
			"a constraint declares it for "+strings.Join(slices.Compact(list), ", "))
	}
	return n
}

// neverRead lists names in use that no statement read, where statements that read
// whatever there is do not explain that.
func (d *drift) neverRead() (n int) {
	for _, k := range nameKinds {
		if k == UseType && d.any(UseAnyType) || k == UseProperty && (d.any(UseAnyProperty) || d.any(UseRecalled)) {
			continue
		}
		names := slices.Clone(d.known[k])
		slices.Sort(names)
		for _, name := range names {
			u := d.uses[k][name]
			if d.used[k][name] && u.Reads.Count == 0 && d.uses[UseMaybe][name].Reads.Count == 0 && !d.isOwn(k, name) {
				n++
				d.part("never read", string(k)+" "+name, u.Writes.Count, "no statement that was counted read it")
			}
		}
	}
	return n
}

func sortedNames(m map[string]NameUse) []string { return slices.Sorted(maps.Keys(m)) }

func (d *drift) any(k UseKind) bool { return len(d.uses[k]) > 0 }

func (d *drift) note(dead, moved, past, idle, computed int) {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, amount(n, one, many))
		}
	}
	add(dead, "name is read and nothing ever wrote it", "names are read and nothing ever wrote them")
	add(moved, "name is read whose producer seems to have moved to a similar one", "names are read whose producer seems to have moved to a similar one")
	add(past, "access goes past the labels that a constraint declares", "accesses go past the labels that a constraint declares")
	add(idle, "name is there and was never read", "names are there and were never read")
	if len(parts) > 0 {
		d.f.Status = Notice
		d.f.Note = "Among the statements that were counted, " + strings.Join(parts, "; ") + "."
	} else {
		d.f.Note = "What the counted statements read was written."
	}
	if n, _ := d.f.Measure("never_read").(int64); n > int64(idle) {
		d.f.Note += " " + amount(n, "name that is there was", "names that are there were") + " never read, which says little of so few statements."
	}
	if computed > 0 {
		d.f.Note += " " + amount(computed, "name is", "names are") + " computed at run time, and only listed."
	}
	if d.any(UseAnyProperty) || d.any(UseAnyType) || d.any(UseRecalled) {
		d.f.Note += " Some statements hand out whole elements, follow edges of any type or recall: they read names that they do not have in them."
	}
}

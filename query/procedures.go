package query

import (
	"slices"

	"engram/query/internal/bind"
	"engram/query/internal/physical"
)

// Procedures finds procedures by their full name, such as text.search.
type Procedures = physical.Procedures

// known finds the built-in procedures, then those of the options.
type known struct{ engine *Engine }

// Lookup implements Procedures.
func (k known) Lookup(name string) (*physical.Procedure, bool) {
	for _, p := range builtIn {
		if p.Name == name {
			return p, true
		}
	}
	for _, p := range slices.Concat(relationCommands, layerCommands, lifecycleClauses) {
		if p.Name == name {
			return p, true
		}
	}
	if p, ok := shows[name]; ok {
		return p, true
	}
	for _, p := range k.engine.own {
		if p.Name == name {
			return p, true
		}
	}
	if k.engine.opts.Procedures == nil {
		return nil, false
	}
	return k.engine.opts.Procedures.Lookup(name)
}

// builtIn are the built-in procedures in order of name.
var builtIn = []*physical.Procedure{queryNodes, dbLabels, dbProperty, dbTypes, embedBackfill, textSearch}

// ProcedureNames lists the built-in procedures in order of name.
func ProcedureNames() []string {
	var names []string
	for _, p := range builtIn {
		names = append(names, p.Name)
	}
	return names
}

// signatures shows the binder what it needs of procedures.
type signatures struct{ from Procedures }

// Lookup implements bind.Procedures.
func (s signatures) Lookup(name string) (*bind.Procedure, bool) {
	p, ok := s.from.Lookup(name)
	if !ok {
		return nil, false
	}
	return &p.Procedure, true
}

// Names lists the procedures that may be suggested for a name there is not.
func (signatures) Names() []string { return ProcedureNames() }

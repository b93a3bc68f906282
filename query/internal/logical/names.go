package logical

import "engram/query/internal/syntax"

// Name implements Op.
func (*Argument) Name() string { return "Argument" }

// Name implements Op.
func (o *NodeScan) Name() string {
	if o.Label != "" {
		return "LabelScan"
	}
	return "NodeScan"
}

// Name implements Op.
func (*IDSeek) Name() string { return "IdSeek" }

// Name implements Op.
func (o *Expand) Name() string {
	if o.Into {
		return "ExpandInto"
	}
	return "Expand"
}

// Name implements Op.
func (*BoundExpand) Name() string { return "BoundExpand" }

// Name implements Op.
func (o *VarExpand) Name() string {
	switch {
	case o.Reach:
		return "Reach"
	case o.Into:
		return "VarExpandInto"
	}
	return "VarExpand"
}

// Name implements Op.
func (*ShortestPath) Name() string { return "ShortestPath" }

// Name implements Op.
func (*PathBuild) Name() string { return "PathBuild" }

// Name implements Op.
func (*Filter) Name() string { return "Filter" }

// Name implements Op.
func (s *SemiJoin) Name() string {
	if s.Anti {
		return "AntiSemiJoin"
	}
	return "SemiJoin"
}

// Name implements Op.
func (*Degree) Name() string { return "Degree" }

// Name implements Op.
func (*Project) Name() string { return "Project" }

// Name implements Op.
func (*Aggregate) Name() string { return "Aggregate" }

// Name implements Op.
func (*CountLookup) Name() string { return "CountLookup" }

// Name implements Op.
func (*Distinct) Name() string { return "Distinct" }

// Name implements Op.
func (*Sort) Name() string { return "Sort" }

// Name implements Op.
func (*TopK) Name() string { return "TopK" }

// Name implements Op.
func (*Skip) Name() string { return "Skip" }

// Name implements Op.
func (*Limit) Name() string { return "Limit" }

// Name implements Op.
func (*Optional) Name() string { return "Optional" }

// Name implements Op.
func (*Unwind) Name() string { return "Unwind" }

// Name implements Op.
func (*Create) Name() string { return "Create" }

// Name implements Op.
func (*Merge) Name() string { return "Merge" }

// Name implements Op.
func (*Set) Name() string { return "Set" }

// Name implements Op.
func (*Remove) Name() string { return "Remove" }

// Name implements Op.
func (o *Delete) Name() string {
	if o.Detach {
		return "DetachDelete"
	}
	return "Delete"
}

// Name implements Op.
func (*Foreach) Name() string { return "Foreach" }

// Name implements Op.
func (*CallProc) Name() string { return "CallProc" }

// Name implements Op.
func (*CallSubquery) Name() string { return "CallSubquery" }

// Name implements Op.
func (*Eager) Name() string { return "Eager" }

// Name implements Op.
func (*Remember) Name() string { return "Remember" }

// Name implements Op.
func (o *Recall) Name() string {
	switch o.Call.Verb {
	case syntax.VerbActivate:
		return "Activate"
	case syntax.VerbCompile:
		return "Compile"
	}
	return "Recall"
}

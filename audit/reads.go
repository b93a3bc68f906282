package audit

// UseKind says what a NameUse is about.
type UseKind string

// The kinds. UseAccess is a property that was read or written of a node with
// known labels. UseComputed is a property whose name only a run knows, as the text has
// it, such as n[$key]; UseMaybe one of what may be a node or only a map.
// UseAnyProperty and UseAnyType are statements that hand out whole elements, and that
// follow edges of whatever type; UseRecalled are those that search.
const (
	UseLabel       UseKind = "label"
	UseType        UseKind = "type"
	UseProperty    UseKind = "property"
	UseAccess      UseKind = "access"
	UseComputed    UseKind = "computed"
	UseMaybe       UseKind = "maybe property"
	UseAnyProperty UseKind = "any property"
	UseAnyType     UseKind = "any type"
	UseRecalled    UseKind = "recalled"
)

// Moment is when something happened: at which seq of the graph, and at which time in
// milliseconds since 1970.
type Moment struct {
	Seq uint64 `json:"seq"`
	At  int64  `json:"at"`
}

// Uses tells how often, and when first and last. Without uses the moments mean
// nothing.
type Uses struct {
	Count int64  `json:"count"`
	First Moment `json:"first"`
	Last  Moment `json:"last"`
}

// NameUse is what is known of a name.
type NameUse struct {
	Kind UseKind `json:"kind"`
	Name string  `json:"name,omitempty"`
	// Of are the labels of a UseAccess, sorted.
	Of     []string `json:"of,omitempty"`
	Reads  Uses     `json:"reads"`
	Writes Uses     `json:"writes"`
}

// Reads is what an engine counted of the names that its statements read and write.
type Reads struct {
	// Since is when counting began.
	Since Moment `json:"since"`
	// Statements are those that were counted, LeftOut the names for which there was no
	// room.
	Statements int64 `json:"statements"`
	LeftOut    int64 `json:"leftOut"`
	// Names are ordered by kind, name and labels.
	Names []NameUse `json:"names"`
}

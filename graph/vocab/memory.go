package vocab

// The property keys by which the statements about memory understand each other.
const (
	KeyContent      = "content"
	KeyStatus       = "status"       // StatusActive, StatusForgotten or StatusSuperseded; missing: active
	KeyTier         = "tier"         // TierWorking, TierEpisodic or TierCanonical
	KeyLayer        = "layer"        // the number or the name of a layer; missing: 1
	KeyImportance   = "importance"   // 0 to 1; missing: 0.5
	KeyConfidence   = "confidence"   // 0 to 1; missing: 1
	KeyCreatedAt    = "created_at"   // when the memory was stored, a date and time
	KeyValidFrom    = "valid_from"   // since when what it says holds; missing: ever since
	KeyValidTo      = "valid_to"     // until when it held, that instant not included; missing: it still holds
	KeyUses         = "uses"         // how often it was used
	KeyLastUsed     = "last_used"    // when it was used last
	KeyDecay        = "decay"        // how fast it fades, a factor; missing: 1
	KeyOrigin       = "origin"       // who or what brought it: OriginUser, OriginRecall, an importer
	KeyConversation = "conversation" // of which it is a part
	KeyTags         = "tags"
	KeyReason       = "reason"     // on edges and nodes: why
	KeyWeight       = "weight"     // of an edge, 0 to 1; missing: that of its type
	KeyInhibitory   = "inhibitory" // of an edge: holds back in place of spreading
)

// What KeyStatus may be.
const (
	StatusActive     = "active"
	StatusForgotten  = "forgotten"  // out of recall, kept, restorable
	StatusSuperseded = "superseded" // another memory stands in its place
)

// What KeyTier may be, from the newest to what is known for good.
const (
	TierWorking   = "Working"
	TierEpisodic  = "Episodic"
	TierCanonical = "Canonical"
)

// OriginUser and OriginRecall are values of KeyOrigin: told by a person, and made
// of what was recalled, which is no new evidence.
const (
	OriginUser   = "user"
	OriginRecall = "recall"
)

// The labels that say what kind of memory a node is.
const (
	LabelMemory    = "Memory"
	LabelNote      = "Note"
	LabelLesson    = "Lesson"
	LabelSafety    = "Safety"    // rules that keep people safe
	LabelValue     = "Value"     // what the self holds dear
	LabelVerdict   = "Verdict"   // judgements about other memories
	LabelTelemetry = "Telemetry" // state events, counters, traces of runs
)

// The relation types with a meaning of their own.
const (
	Supersedes  = "SUPERSEDES"  // the start replaces the end
	Contradicts = "CONTRADICTS" // the start says the opposite of the end
	Related     = "RELATED"
	Activates   = "ACTIVATES" // thinking of the start brings up the end
	Contains    = "CONTAINS"
	Precedes    = "TEMPORALLY_PRECEDES"
)

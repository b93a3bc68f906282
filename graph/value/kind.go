package value

// Kind says what a Value holds. The numeric order of kinds has no meaning of
// its own; Order defines how values of different kinds sort.
type Kind uint8

// The kinds of values. The zero Value is Null.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindString
	KindList
	KindMap
	KindNode
	KindEdge
	KindPath
	KindDate
	KindLocalTime
	KindTime
	KindLocalDateTime
	KindDateTime
	KindDuration
	kindCount
)

var kindNames = [kindCount]string{
	"NULL", "BOOLEAN", "INTEGER", "FLOAT", "STRING", "LIST", "MAP", "NODE", "RELATIONSHIP", "PATH",
	"DATE", "LOCAL TIME", "TIME", "LOCAL DATETIME", "DATETIME", "DURATION",
}

// String returns the kind's name as users of EQL write it, such as INTEGER or
// LOCAL DATETIME.
func (k Kind) String() string {
	if k >= kindCount {
		return "UNKNOWN"
	}
	return kindNames[k]
}

// Named is the kind with its article, for messages: an INTEGER, a STRING, null.
func (k Kind) Named() string {
	switch {
	case k == KindNull:
		return "null"
	case k == KindInt || k >= kindCount:
		return "an " + k.String()
	}
	return "a " + k.String()
}

package value

import "unsafe"

const (
	valueSize = int(unsafe.Sizeof(Value{}))
	propSize  = int(unsafe.Sizeof(Prop{}))
)

// Size estimates how many bytes of memory v holds, itself (24 bytes) included:
// what query budgets count. Text and elements shared with other values are
// counted in each. It takes time in proportion to the number of elements.
func (v Value) Size() int {
	size := valueSize
	switch v.kind {
	case KindString:
		size += int(v.num)
	case KindList:
		for _, e := range v.AsList() {
			size += e.Size()
		}
	case KindMap:
		size += propsSize(v.AsMap().Entries)
	case KindNode:
		if n := v.AsNode(); n != nil {
			size += int(unsafe.Sizeof(*n)) + len(n.ElementID) + propsSize(n.Properties)
			for _, label := range n.Labels {
				size += int(unsafe.Sizeof(label)) + len(label)
			}
		}
	case KindEdge:
		if e := v.AsEdge(); e != nil {
			size += int(unsafe.Sizeof(*e)) + len(e.ElementID) + len(e.SrcElementID) + len(e.DstElementID) +
				len(e.Type) + propsSize(e.Properties)
		}
	case KindPath:
		p := v.AsPath()
		size += int(unsafe.Sizeof(*p)) + List(p.Nodes).Size() + List(p.Edges).Size()
	case KindTime, KindLocalDateTime:
		size += int(unsafe.Sizeof(LocalDateTime{}))
	case KindDateTime:
		size += int(unsafe.Sizeof(DateTime{})) + len(v.AsDateTime().Zone)
	case KindDuration:
		size += int(unsafe.Sizeof(Duration{}))
	}
	return size
}

func propsSize(props []Prop) int {
	size := 0
	for _, p := range props {
		size += propSize - valueSize + len(p.Key) + p.Value.Size()
	}
	return size
}

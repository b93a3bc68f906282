package topo

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestReadingSeveralAtATimeIsReadingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint32(), 1, 30).Draw(t, "list")
		var b []byte
		for _, x := range list {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		out := make([]uint32, len(list))
		if most := (&reading{b: b}).u32s(out); !slices.Equal(out, list) || most != slices.Max(list) {
			t.Fatalf("read %v, most %d", out, most)
		}
		types := rapid.SliceOfN(rapid.Uint8(), 1, 40).Draw(t, "types")
		most := slices.Max(types)
		for _, limit := range []uint8{1, most, most + 1, 127, 128, 129, 255} {
			if limit > 0 && allBelow(types, limit) != (most < limit) {
				t.Fatalf("allBelow(%v, %d)", types, limit)
			}
		}
	})
}

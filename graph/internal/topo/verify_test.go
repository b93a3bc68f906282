package topo

import "testing"

// TestVerifyFindsDamage changes packed entries behind the topology's back.
func TestVerifyFindsDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(c *csr)
	}{
		{"another neighbour", func(c *csr) { c.nbr[3] = 69 }},
		{"another edge", func(c *csr) { c.edge[3] = c.edge[9] }},
		{"another type", func(c *csr) { c.wide[3]++ }},
		{"beyond the end", func(c *csr) { c.edge[3] = 1 << 20 }},
		{"in a later node", func(c *csr) { c.off[1]++ }},
		{"one less", func(*csr) {}},
	} {
		for d := range 2 {
			v, err := roundTrip(small(t)) // packed
			if err != nil {
				t.Fatal(err)
			}
			packed := v.segs.at(0).base[d]
			if packed.wide == nil {
				packed.wide = make([]uint32, len(packed.nbr))
				for i := range packed.wide {
					packed.wide[i] = packed.dict[packed.typ[i]]
				}
			}
			if c.name == "one less" {
				n := packed.off[segPer] - 1
				for i := range packed.off {
					packed.off[i] = min(packed.off[i], n)
				}
			}
			c.damage(packed)
			var found []string
			v.Verify(func(p string) bool { found = append(found, p); return true })
			if len(found) == 0 {
				t.Errorf("%s, direction %d: nothing was found", c.name, d)
			}
		}
	}
}

func TestVerifyFindsWrongNumbers(t *testing.T) {
	v := small(t)
	e := v.Edit()
	e.v.cells.add(cellKey{1, 0, 0}, 1, e.tok)
	for _, c := range []struct {
		v    *Version
		want int
	}{{v, 0}, {e.Commit(2), 1}} {
		found := 0
		c.v.Verify(func(string) bool { found++; return true })
		if found != c.want {
			t.Errorf("%d problems were found, want %d", found, c.want)
		}
	}
}

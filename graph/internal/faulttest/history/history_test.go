package history

import (
	"strings"
	"testing"
)

type m = map[string]int64

func TestCheck(t *testing.T) {
	write := func(start, end int64, seq uint64, reads, writes m) Tx { return Tx{start, end, seq, reads, writes} }
	read := func(start, end int64, seq uint64, reads m) Tx { return Tx{start, end, seq, reads, nil} }
	first := write(1, 2, 1, m{"x": Absent}, m{"x": 1, "y": 1})
	for name, c := range map[string]struct {
		txs  []Tx
		want string
	}{
		"in order":           {[]Tx{first, write(3, 4, 2, m{"x": 1}, m{"x": 2}), read(5, 6, 2, m{"x": 2, "y": 1})}, ""},
		"an older snapshot":  {[]Tx{first, write(3, 6, 2, nil, m{"x": 2}), read(4, 5, 1, m{"x": 1})}, ""},
		"deleted":            {[]Tx{first, write(3, 4, 2, nil, m{"x": Absent}), read(5, 6, 2, m{"x": Absent})}, ""},
		"lost update":        {[]Tx{first, write(3, 8, 2, m{"x": 1}, m{"x": 2}), write(4, 9, 3, m{"x": 1}, m{"x": 2})}, "read x = 1"},
		"write skew":         {[]Tx{first, write(3, 8, 2, m{"x": 1, "y": 1}, m{"x": 0}), write(4, 9, 3, m{"x": 1, "y": 1}, m{"y": 0})}, "read x = 1"},
		"torn read":          {[]Tx{first, write(3, 9, 2, nil, m{"x": 2, "y": 2}), read(4, 8, 2, m{"x": 2, "y": 1})}, "read y = 1"},
		"long fork":          {[]Tx{first, write(3, 9, 2, nil, m{"x": 2}), write(3, 9, 3, nil, m{"y": 2}), read(4, 8, 2, m{"x": 1, "y": 2})}, "read x = 1"},
		"from the future":    {[]Tx{first, write(3, 9, 2, nil, m{"x": 2}), read(4, 8, 1, m{"x": 2})}, "read x = 2"},
		"stale":              {[]Tx{first, write(3, 4, 2, nil, m{"x": 2}), read(5, 6, 1, m{"x": 1})}, "began after seq 2"},
		"ordered before":     {[]Tx{write(1, 2, 5, nil, m{"x": 1}), write(3, 4, 4, nil, m{"y": 1})}, "began after seq 5"},
		"one seq twice":      {[]Tx{first, write(1, 2, 1, nil, m{"z": 1})}, "two transactions"},
		"duplicate creation": {[]Tx{first, write(3, 4, 2, m{"x": Absent}, m{"x": 1})}, "read x = -1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(c.txs)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Check = %v; want %q", err, c.want)
			}
		})
	}
}

// TestParts gives a history in parts: each is held against what the ones before
// left, in values and in time.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		next Tx
		want string
	}{
		"in order":       {Tx{5, 6, 3, m{"x": 2, "y": Absent}, m{"x": 3}}, ""},
		"a lost write":   {Tx{5, 6, 3, m{"x": 1}, nil}, "read x = 1"},
		"stale":          {Tx{5, 6, 1, nil, nil}, "began after seq 2"},
		"a seq again":    {Tx{5, 6, 2, nil, m{"z": 1}}, "two transactions"},
		"undead":         {Tx{5, 6, 2, m{"y": 1}, nil}, "read y = 1"},
		"an earlier seq": {Tx{5, 6, 1, nil, m{"z": 1}}, "began after seq 2"},
	} {
		var k Checker
		err := k.Add([]Tx{{1, 2, 1, m{"x": Absent}, m{"x": 1, "y": 1}}, {3, 4, 2, m{"x": 1}, m{"x": 2, "y": Absent}}})
		if err != nil {
			t.Fatal(err)
		}
		err = k.Add([]Tx{c.next})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

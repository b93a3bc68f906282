package schema_test

import (
	"errors"
	"math"
	"testing"

	"engram/graph/schema"
	"engram/graph/value"
)

func def(kind schema.Kind, name string, keys ...string) schema.Def {
	return schema.Def{Kind: kind, Name: name, Owner: "P", Keys: keys, State: schema.Online}
}

func TestPrepare(t *testing.T) {
	ix, one := def(schema.Range, "ix", "a", "b"), def(schema.Unique, "one", "c")
	ix.ID, one.ID = 1, 2
	set := (*schema.Set)(nil).With(&ix).With(&one)
	for _, c := range []struct {
		def    schema.Def
		name   string // it gets
		takes  uint64
		exists bool
		fails  bool
	}{
		{def: def(schema.Range, "", "a"), name: "index_P_a"},
		{def: def(schema.Range, "", "b", "a"), name: "index_P_b_a"},
		{def: def(schema.Unique, "", "a", "b"), name: "unique_P_a_b", takes: 1},
		{def: def(schema.Exists, "", "a"), name: "exists_P_a"},
		{def: def(schema.Range, "other", "a", "b"), exists: true},
		{def: def(schema.Range, "", "c"), exists: true}, // the constraint has such an index
		{def: def(schema.Unique, "", "c"), exists: true},
		{def: def(schema.Exists, "ix", "a"), exists: true},
		{def: def(schema.Range, ""), fails: true},
		{def: def(schema.Range, "", "a", "a"), fails: true},
		{def: def(schema.Exists, "", "a", "b"), fails: true},
		{def: def(schema.Range, "", "a", "b", "c", "d", "e", "f", "g", "h", "i"), fails: true},
	} {
		d := c.def
		takes, err := set.Prepare(&d)
		var exists *schema.ExistsError
		if errors.As(err, &exists) != c.exists || (err != nil) != (c.exists || c.fails) {
			t.Errorf("%s: %v", &c.def, err)
		}
		if err == nil && (d.Name != c.name || (takes == nil) != (c.takes == 0) || takes != nil && takes.ID != c.takes) {
			t.Errorf("%s is named %s and takes %v", &c.def, d.Name, takes)
		}
	}
	if set.Index(false, "P", "c") != &one || set.Index(false, "P", "a") != nil || set.Index(true, "P", "c") != nil {
		t.Error("the index by c is not found, or one that is not there")
	}
	if left := set.Without(1); left.ByName("ix") != nil || left.ByID(2) != &one || set.ByName("ix") != &ix {
		t.Error("a set without one is wrong")
	}
}

func TestSeekMatches(t *testing.T) {
	vals := []value.Value{value.Int(2), value.String("abc")}
	for _, c := range []struct {
		seek schema.Seek
		want bool
	}{
		{schema.Seek{}, true},
		{schema.Seek{Eq: []value.Value{value.Float(2)}}, true},
		{schema.Seek{Eq: []value.Value{value.Int(3)}}, false},
		{schema.Seek{Eq: []value.Value{value.Null}}, false},
		{schema.Seek{Eq: []value.Value{value.Int(2)}, HasPrefix: true, Prefix: "ab"}, true},
		{schema.Seek{Eq: []value.Value{value.Int(2)}, HasPrefix: true, Prefix: "b"}, false},
		{schema.Seek{Lo: value.Int(2), Hi: value.Int(2)}, true},
		{schema.Seek{Lo: value.Float(2.5)}, false},
		{schema.Seek{Hi: value.String("z")}, false},
		{schema.Seek{Lo: value.Float(math.NaN())}, false},
	} {
		if got := c.seek.Matches(vals); got != c.want {
			t.Errorf("%+v matches %v: %v", c.seek, vals, got)
		}
	}
	if (&schema.Seek{}).Matches([]value.Value{value.Null, value.Int(1)}) {
		t.Error("an element without the first property has no entry")
	}
}

package catalog_test

import (
	"fmt"
	"runtime"
	"testing"

	"engram/graph/internal/catalog"
)

func TestVersionsStayApart(t *testing.T) {
	c := catalog.New()
	var id uint32
	for i := range 300 {
		name := fmt.Sprintf("L%03d", i)
		before := c
		// A version that is given up must not be seen by the next one.
		if lost, _ := before.With(catalog.Label, "lost"); lost.Name(catalog.Label, uint32(i+1)) != "lost" {
			t.Fatal("the name was not added")
		}
		c, id = c.With(catalog.Label, name)
		if id != uint32(i+1) || c.Name(catalog.Label, id) != name || c.Version() == before.Version() {
			t.Fatalf("%s has id %d", name, id)
		}
		if _, ok := before.Lookup(catalog.Label, name); ok {
			t.Fatalf("an older version knows %s", name)
		}
	}
	for i := range 300 {
		if id, ok := c.Lookup(catalog.Label, fmt.Sprintf("L%03d", i)); !ok || id != uint32(i+1) {
			t.Fatalf("L%03d is %d, %v", i, id, ok)
		}
	}
	if _, ok := c.Lookup(catalog.Label, "lost"); ok {
		t.Error("an abandoned name is there")
	}
	same, id := c.With(catalog.Label, "L007")
	if same != c || id != 8 {
		t.Errorf("a known name made a version, id %d", id)
	}
	if _, ok := c.Lookup(catalog.Key, "L007"); ok || c.Name(catalog.Label, 0) != "" || c.Name(catalog.Label, 301) != "" {
		t.Error("names leak between classes or beyond the ids")
	}
}

func TestLoad(t *testing.T) {
	var l catalog.Load
	for i, name := range []string{"A", "B"} {
		if err := l.Add(catalog.StoreKey(catalog.Label, uint32(i+1)), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Add(catalog.StoreKey(catalog.Key, 1), "id"); err != nil {
		t.Fatal(err)
	}
	c := l.Done()
	if id, ok := c.Lookup(catalog.Label, "B"); !ok || id != 2 || c.Len(catalog.Key) != 1 {
		t.Errorf("B is %d, %v", id, ok)
	}
	for name, key := range map[string][]byte{
		"a hole": catalog.StoreKey(catalog.Label, 9), "a class": catalog.StoreKey(9, 1), "a length": {1},
	} {
		if l.Add(key, "X") == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if l.Add(catalog.StoreKey(catalog.Label, 3), "A") == nil {
		t.Error("a name twice was accepted")
	}
}

// Names are the user's: a transaction that brings 20,000 of them must not copy all
// names for each. Bytes are counted, not time.
func TestAddingManyNamesCopiesFew(t *testing.T) {
	const n = 20_000
	add := func() (c *catalog.Catalog) {
		c = catalog.New()
		for i := range n {
			c, _ = c.With(catalog.Key, fmt.Sprintf("key%05d", i))
		}
		return c
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := add()
	runtime.ReadMemStats(&after)
	if perName := (after.TotalAlloc - before.TotalAlloc) / n; perName > 16<<10 {
		t.Errorf("%d bytes were allocated for each of %d names", perName, n)
	}
	for _, i := range []int{0, 63, 64, 65, 127, 128, 8191, 19_967, 19_968, n - 1} {
		name := fmt.Sprintf("key%05d", i)
		if id, ok := c.Lookup(catalog.Key, name); !ok || id != uint32(i+1) || c.Name(catalog.Key, id) != name {
			t.Errorf("%s is %d, %v, which names %q", name, id, ok, c.Name(catalog.Key, id))
		}
	}
	if got := c.Name(catalog.Key, n+1); got != "" || c.Len(catalog.Key) != n {
		t.Errorf("name %d is %q of %d", n+1, got, c.Len(catalog.Key))
	}
}

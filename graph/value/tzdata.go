package value

import (
	"fmt"
	"sync"
	"time"

	"engram/graph/value/internal/tzdata"
)

// locations caches zones by name. Only names that exist get in, so it is
// bounded by the size of the database.
var locations sync.Map // string -> *time.Location

// location returns a zone of the database that the program carries.
func location(name string) (*time.Location, error) {
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, ok, err := tzdata.Load(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%q is no time zone: give an offset such as +01:00 or a name such as Europe/Stockholm", name)
	}
	locations.Store(name, loc)
	return loc, nil
}

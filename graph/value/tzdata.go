package value

import (
	"fmt"
	"sync"
	"time"
)

// locations caches zones by name. Only names that exist get in, so it is
// bounded by the size of the database.
var locations sync.Map // string -> *time.Location

// location returns a zone of the time zone database.
func location(name string) (*time.Location, error) {
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if name == "" || name == "Local" {
		return nil, unknownZone(name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	locations.Store(name, loc)
	return loc, nil
}

func unknownZone(name string) error {
	return fmt.Errorf("%q is no time zone: give an offset such as +01:00 or a name such as Europe/Stockholm", name)
}

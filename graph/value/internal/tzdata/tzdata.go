// Package tzdata carries the IANA time zone database, so that a zone means the
// same on every machine.
//
// time.LoadLocation asks the operating system first, and systems differ: builds
// with the "backzone" history give Stockholm in 1818 an offset of its own,
// others that of Berlin, as the main data of the database has it. A statement
// would then have another result elsewhere.
//
// zoneinfo.zip holds one file a zone, compiled from the release named below,
// which is in the public domain:
//
//	zic -b slim -d DIR africa antarctica asia australasia europe \
//	    northamerica southamerica etcetera factory backward
//
// and zipped in ascending order of name. Go's own lib/time/zoneinfo.zip would
// not do: from Go 1.25 on it is built with backzone.
package tzdata

import (
	"archive/zip"
	_ "embed" // for zoneinfo.zip
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Release is the release of the database.
const Release = "2026b"

//go:embed zoneinfo.zip
var archive string

// database is read on first use: most programs never name a zone.
var database = sync.OnceValues(open)

func open() (map[string]*zip.File, error) {
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("the time zone database is damaged: %w", err)
	}
	files := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") {
			files[f.Name] = f
		}
	}
	return files, nil
}

// Load reads the zone of that name; ok is false when there is none. Names are
// exact, as Europe/Stockholm. It parses the zone anew each time.
func Load(name string) (loc *time.Location, ok bool, err error) {
	files, err := database()
	if err != nil {
		return nil, false, err
	}
	f, ok := files[name]
	if !ok {
		return nil, false, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, false, fmt.Errorf("time zone %s: %w", name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, false, fmt.Errorf("time zone %s: %w", name, err)
	}
	loc, err = time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, false, fmt.Errorf("time zone %s: %w", name, err)
	}
	return loc, true, nil
}

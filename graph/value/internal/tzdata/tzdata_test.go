package tzdata

import (
	"testing"
	"time"
)

func TestEveryZoneLoads(t *testing.T) {
	files, err := database()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 590 {
		t.Fatalf("%d zones, want the whole database", len(files))
	}
	for name := range files {
		loc, ok, err := Load(name)
		if err != nil || !ok || loc.String() != name {
			t.Errorf("%s: %v, %v, %v", name, loc, ok, err)
		}
	}
}

func TestOffsets(t *testing.T) {
	for _, c := range []struct {
		zone string
		at   string
		want int // seconds east
	}{
		{"Europe/Stockholm", "1818-07-21T00:00:00Z", 53*60 + 28},
		{"Europe/Stockholm", "2024-01-15T00:00:00Z", 3600},
		{"Europe/Stockholm", "2024-07-15T00:00:00Z", 7200},
		{"Europe/Stockholm", "2150-07-15T00:00:00Z", 7200}, // by the rule behind the table
		{"Asia/Kolkata", "2024-07-15T00:00:00Z", 19800},
		{"America/New_York", "1883-01-01T00:00:00Z", -(4*3600 + 56*60 + 2)},
		{"UTC", "2024-07-15T00:00:00Z", 0},
	} {
		loc, ok, err := Load(c.zone)
		if !ok || err != nil {
			t.Fatalf("%s: %v, %v", c.zone, ok, err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := at.In(loc).Zone(); got != c.want {
			t.Errorf("%s at %s is %d s east, want %d", c.zone, c.at, got, c.want)
		}
	}
}

func TestUnknownZone(t *testing.T) {
	for _, name := range []string{"", "Local", "europe/stockholm", "Europe", "Europe/", "../etc/passwd", "/etc/localtime"} {
		if loc, ok, err := Load(name); ok || err != nil {
			t.Errorf("%q: %v, %v, want no zone", name, loc, err)
		}
	}
}

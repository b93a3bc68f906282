package engram_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"engram"
)

// TestRecallOfATime: a question that names a time as it is seen from now lifts what is of
// that time by half, and nothing else. The reference time is Thursday, 14 May 2026, 10:00.
func TestRecallOfATime(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 5, 14, 10, 0, 0, 0, time.UTC) }
	dates := map[string]string{
		"today": "2026-05-14T08:00", "wed": "2026-05-13T12:00", "tue": "2026-05-12T00:00", "mon": "2026-05-11T00:00",
		"sun": "2026-05-10T23:59:59", "fri": "2026-05-08T09:00", "mon-before": "2026-05-04T00:00", "apr30": "2026-04-30T23:59:59",
		"apr28": "2026-04-28T10:00", "dec31": "2025-12-31T23:59:59", "may25": "2025-05-20T10:00", "jul24": "2024-07-01T00:00",
	}
	open := func(off ...string) *engram.DB {
		// Alike as they are, they would hold each other back.
		db := memory(t, &engram.Options{Now: now, RecallOff: append(off, "duplicates")})
		for id, date := range dates {
			query(t, db, "CREATE (:Memory {id: $id, content: 'the meeting', date: localdatetime($date), created_at: datetime('2026-01-01T00:00Z')})",
				map[string]any{"id": id, "date": date})
		}
		return db
	}
	with, without := open(), open("date")
	scores := func(db *engram.DB, question string) map[string]float64 {
		t.Helper()
		out := map[string]float64{}
		for _, row := range query(t, db, "RECALL $q LIMIT 20 YIELD node AS m, score RETURN m.id, score", map[string]any{"q": question}).Rows {
			out[row[0].AsString()] = row[1].AsFloat()
		}
		if len(out) != len(dates) {
			t.Fatalf("%q: %d rows", question, len(out))
		}
		return out
	}
	for _, c := range []struct{ question, lifted string }{
		{"the meeting today", "today"},
		{"Yesterday's meeting", "wed"},
		{"who came to the meeting the day before yesterday?", "tue"},
		{"meeting last night", "wed"},
		{"the meeting this week", "mon today tue wed"},
		{"Which meeting was last week?", "fri mon-before sun"},
		{"the meeting last weekend", "sun"},
		{"the meeting on Monday", "mon"},
		{"the meeting last Friday", "fri"},
		{"the meeting two weeks ago", "apr28 apr30"},
		{"the meeting of the last three days", "mon today tue wed"},
		{"the meeting 2 days ago", "tue"},
		{"the meeting this month", "fri mon mon-before sun today tue wed"},
		{"the meeting last month", "apr28 apr30"},
		{"the meeting a month ago", "apr28 apr30"},
		{"the meeting in May", "fri mon mon-before sun today tue wed"},
		{"the meeting last May", "may25"},
		{"the meeting in December", "dec31"},
		{"the meeting on December 31st", "dec31"},
		{"the meeting on the 8th of May", "fri"},
		{"the meeting on May 8", "fri"},
		{"last year's meeting", "dec31 may25"},
		{"the meeting two years ago", "jul24"},
		{"the meeting yesterday or two years ago", "jul24 wed"},
		{"the meeting before last week", ""},
		{"the meeting since yesterday", ""},
		{"may the meeting march on?", ""},
		{"the meeting in May 2025", ""},
		{"the meeting on May 20, 2025", ""},
		{"the meeting zero days ago", ""},
		{"the meeting on February 31", ""},
		{"how long ago was the meeting?", ""},
		{strings.Repeat("ago ", 5000) + "meeting", ""},
	} {
		before, after := scores(without, c.question), scores(with, c.question)
		var lifted []string
		for id, score := range after {
			switch r := score / before[id]; {
			case math.Abs(r-1.5) < 1e-9:
				lifted = append(lifted, id)
			case r != 1:
				t.Errorf("%q: %s counts %v as much", c.question, id, r)
			}
		}
		slices.Sort(lifted)
		if got := strings.Join(lifted, " "); got != c.lifted {
			t.Errorf("%q lifts %s, want %s", c.question, got, c.lifted)
		}
	}
	// The reference time may be given, and why tells.
	res := query(t, with, "RECALL 'the meeting last month' AT datetime('2026-06-10T00:00Z') LIMIT 20 YIELD node AS m, why WITH m, why WHERE why CONTAINS 'is of the time that is named' RETURN m.id ORDER BY m.id", nil)
	if len(res.Rows) != 7 || res.Rows[0][0].AsString() != "fri" {
		t.Errorf("seen from June: %v", res.Rows)
	}
	// What says when it holds is of that time, whenever it was written down.
	query(t, with, "CREATE (:Memory {id: 'held', content: 'the meeting', date: date('2026-05-14'), valid_from: date('2024-01-01'), valid_to: date('2027-01-01')})", nil)
	res = query(t, with, "RECALL 'the meeting two years ago' LIMIT 2 YIELD node AS m RETURN m.id ORDER BY m.id", nil)
	if len(res.Rows) != 2 || res.Rows[0][0].AsString() != "held" || res.Rows[1][0].AsString() != "jul24" {
		t.Errorf("valid two years ago: %v", res.Rows)
	}
}

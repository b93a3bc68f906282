// Package audit tells what shape a memory is in: an annotated characterisation,
// never a score. It reads one snapshot and writes nothing.
//
//	tx, err := db.LongSnapshot()
//	defer tx.Rollback()
//	report, err := audit.Run(ctx, tx, &audit.Options{Only: []string{"orphans_and_dangling"}})
//	for _, f := range report.Findings {
//		fmt.Println(f.Name, f.Status, f.Note)
//	}
//
// Each finding has a file of its own and a line in the table of rules. What
// cannot be measured is unknown, with the reason, and never zero; what was not
// evaluated is deferred, with the reason measured. DESIGN.md has the definitions.
package audit

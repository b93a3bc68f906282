package engram

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"engram/audit"
	"engram/graph"
)

type (
	// AuditReport is what an audit found in one snapshot; it is the same in JSON.
	AuditReport = audit.Report
	// AuditFinding is one thing that an audit looked at.
	AuditFinding = audit.Finding
	// AuditStatus says what a finding comes to.
	AuditStatus = audit.Status
	// AuditMeasure is one number with its unit.
	AuditMeasure = audit.Measure
	// AuditPart is one entry of a distribution.
	AuditPart = audit.Part
	// AuditThreshold is a number that a finding compares with.
	AuditThreshold = audit.Threshold
	// AuditOwner is what the owner of the same data said about itself.
	AuditOwner = audit.Owner
)

// The statuses of findings.
const (
	AuditOK       = audit.OK       // measured, and nothing stands out
	AuditNotice   = audit.Notice   // worth a look
	AuditDefect   = audit.Defect   // something that must not be
	AuditUnknown  = audit.Unknown  // could not be measured; the note has the reason
	AuditDeferred = audit.Deferred // not evaluated yet; the note has the measured reason
)

// AuditOptions say what to look at and how closely. The zero value, like nil, looks at
// everything.
type AuditOptions struct {
	// Only names the findings that are wanted; empty: all. See AuditFindings.
	Only []string
	// With sets thresholds by name; see AuditThresholds.
	With map[string]float64
	// Limit is how many ids each list of a finding has at most, 1 to 10,000. Default 20.
	Limit int
	// Cursor goes on where a list ended.
	Cursor string
	// Suggest adds statements that would settle what was found.
	Suggest bool
	// Owner is what the owner of the same data reports, to compare with; nil: nobody
	// was asked. See AskOwner.
	Owner *AuditOwner
}

// AuditFindings returns the names of all findings, in the order of reports.
func AuditFindings() []string { return audit.Names() }

// AuditTitles returns what each finding measures, one sentence each, by name.
func AuditTitles() map[string]string { return audit.Titles() }

// AuditThresholds lists the numbers that AuditOptions.With may set, by name.
func AuditThresholds() []AuditThreshold { return audit.Thresholds() }

// Audit tells what shape the memory is in. It reads one snapshot, holds up nobody and
// writes nothing. Options.StatementTimeout bounds it.
func (db *DB) Audit(ctx context.Context, o *AuditOptions) (report *AuditReport, err error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	if o == nil {
		o = &AuditOptions{}
	}
	if limit := narrow(ctx, db.runOptions(time.Time{}).Budget).Time; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, newError(CodeResourceExhausted, "the audit took longer than %v", limit))
		defer cancel()
	}
	tx, err := db.graph.LongSnapshot()
	if err != nil {
		return nil, convert(err, "")
	}
	defer tx.Rollback()
	defer recovered(&err)
	report, err = db.engine.Audit(ctx, tx, audit.Options{
		Only: o.Only, With: o.With, Limit: o.Limit, Cursor: o.Cursor, Suggest: o.Suggest, Owner: o.Owner, Now: db.opts.Now().UnixMilli(),
	})
	return report, convert(err, "")
}

// AskOwner counts what a backup's folder or a data directory holds, for
// AuditOptions.Owner. What keeps it from being read is noted in the answer: it is then
// unknown whether anything differs. The namespace counts for a data directory only.
func AskOwner(ctx context.Context, path, namespace string) *AuditOwner {
	owner := &AuditOwner{Source: path}
	s, err := ownerStats(ctx, path, namespace)
	if err != nil {
		owner.Err = convert(err, "")
		return owner
	}
	owner.Seq, owner.Nodes, owner.Edges, owner.Types = s.Seq, s.Nodes, s.Edges, map[string]int64{}
	for _, t := range s.Types {
		owner.Types[t.Name] = t.Count
	}
	return owner
}

func ownerStats(ctx context.Context, path, namespace string) (s Stats, err error) {
	if err := needContext(ctx); err != nil {
		return s, err
	}
	if _, err := os.Stat(filepath.Join(path, "catalog")); err != nil {
		_, s, err := graph.BackupStats(ctx, path)
		return s, err
	}
	data, err := OpenData(path, &Options{ReadOnly: true})
	if err != nil {
		return s, err
	}
	defer func() {
		if closing := data.Close(); err == nil {
			err = closing
		}
	}()
	db, err := data.Open(namespace, false)
	if err != nil {
		return s, err
	}
	if s, err = db.Stats(ctx); err != nil {
		_ = db.Close()
		return s, err
	}
	return s, db.Close()
}

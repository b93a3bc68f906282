package auditview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"engram"
)

// baselineVersion is the version of the file; it grows when older readers would misread
// it.
const baselineVersion = 1

// Baseline is what was accepted: findings that are known and do not fail, as long as
// they do not grow.
type Baseline struct {
	Version  int        `json:"version"`
	Accepted []Accepted `json:"accepted"`
}

// Accepted is one finding, with how many things were accepted and why.
type Accepted struct {
	Finding string             `json:"finding"`
	Status  engram.AuditStatus `json:"status"` // notice or defect
	Count   int64              `json:"count"`
	Reason  string             `json:"reason"`
}

// ReadBaseline decodes a baseline and tells what is wrong with it.
func ReadBaseline(text []byte) (*Baseline, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var b Baseline
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("it is no baseline: %w", plainJSON(err))
	}
	if b.Version != baselineVersion {
		return nil, fmt.Errorf("its version is %d, and this program reads %d", b.Version, baselineVersion)
	}
	seen := map[string]bool{}
	for _, a := range b.Accepted {
		switch {
		case !slices.Contains(engram.AuditFindings(), a.Finding):
			return nil, fmt.Errorf("it accepts %q, which is no finding; there are %s", a.Finding, strings.Join(engram.AuditFindings(), ", "))
		case seen[a.Finding]:
			return nil, fmt.Errorf("it accepts %s twice", a.Finding)
		case a.Status != engram.AuditNotice && a.Status != engram.AuditDefect:
			return nil, fmt.Errorf("it accepts %s with the status %q; only a notice or a defect can be accepted", a.Finding, a.Status)
		case a.Count < 1:
			return nil, fmt.Errorf("it accepts %d of %s; the least is 1", a.Count, a.Finding)
		case strings.TrimSpace(a.Reason) == "":
			return nil, fmt.Errorf("it gives no reason for %s", a.Finding)
		}
		seen[a.Finding] = true
	}
	return &b, nil
}

// plainJSON tells what a decoder found wrong without its own words for types.
func plainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("%s has a value of the wrong type", kind.Field)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("it ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// NewBaseline accepts what stands out in a report. Reasons are kept from an older one,
// which may be nil; reason is that of what is new.
func NewBaseline(r *engram.AuditReport, old *Baseline, reason string) *Baseline {
	b := &Baseline{Version: baselineVersion, Accepted: []Accepted{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !StandsOut(f) {
			continue
		}
		why := reason
		if a := old.of(f.Name); a != nil {
			why = a.Reason
		}
		b.Accepted = append(b.Accepted, Accepted{f.Name, f.Status, f.Count, why})
	}
	return b
}

// Encode writes a baseline as people keep it under version control.
func (b *Baseline) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func (b *Baseline) of(finding string) *Accepted {
	if b == nil {
		return nil
	}
	for i := range b.Accepted {
		if b.Accepted[i].Finding == finding {
			return &b.Accepted[i]
		}
	}
	return nil
}

// StandsOut reports whether a finding is a notice or a defect: others never fail.
func StandsOut(f *engram.AuditFinding) bool {
	return f.Status == engram.AuditNotice || f.Status == engram.AuditDefect
}

// Verdict is what the baseline and the findings that are to fail make of one finding.
type Verdict struct {
	Fails  bool
	Why    string    // in plain words; empty when there is nothing to say
	Accept *Accepted // what was accepted, or nil
}

// Judge tells which findings fail: those of failOn, or any when it holds "any", that
// stand out and were not accepted, or grew since.
func Judge(r *engram.AuditReport, b *Baseline, failOn []string) map[string]Verdict {
	out := map[string]Verdict{}
	for i := range r.Findings {
		f := &r.Findings[i]
		watched := slices.Contains(failOn, "any") || slices.Contains(failOn, f.Name)
		out[f.Name] = judge(f, b.of(f.Name), watched, b != nil)
	}
	return out
}

func judge(f *engram.AuditFinding, a *Accepted, watched, baseline bool) Verdict {
	v := Verdict{Accept: a}
	switch {
	case !StandsOut(f) && a != nil && f.Status == engram.AuditOK:
		v.Why = fmt.Sprintf("the baseline accepts %d, and there is none any more: write it anew", a.Count)
	case !StandsOut(f):
	case a == nil && baseline:
		v.Fails, v.Why = watched, "it is not in the baseline"
	case a == nil:
		v.Fails = watched
	case a.Status == engram.AuditNotice && f.Status == engram.AuditDefect:
		v.Fails, v.Why = watched, "it was accepted as a notice and is a defect"
	case f.Count > a.Count:
		v.Fails, v.Why = watched, fmt.Sprintf("it grew from the %d that were accepted to %d", a.Count, f.Count)
	case f.Count < a.Count:
		v.Why = fmt.Sprintf("it shrank from the %d that were accepted to %d: write the baseline anew", a.Count, f.Count)
	default:
		v.Why = "accepted: " + a.Reason
	}
	return v
}

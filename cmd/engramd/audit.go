package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"engram"
	"engram/cmd/engramd/internal/auditview"
)

type auditCommand struct {
	Only    []string `help:"Only these findings." placeholder:"FINDING,..."`
	With    []string `help:"A threshold: name=number. Repeatable." placeholder:"NAME=NUMBER" sep:"none"`
	Limit   int      `help:"How many nodes and edges a finding lists at most, by default ${default}." default:"20" placeholder:"N"`
	Cursor  string   `help:"Go on where a list ended." placeholder:"CURSOR"`
	Suggest bool     `help:"Show statements that would settle what was found."`
	Against string   `help:"Compare with a backup's folder, another data directory, or a server." placeholder:"DIR|URL"`

	JSON  bool `help:"Print the report as one JSON object." xor:"format"`
	SARIF bool `help:"Print the report in SARIF 2.1.0." name:"sarif" xor:"format"`

	FailOn        []string `help:"Exit with 5 when one of these findings is a notice or a defect; any: all of them." placeholder:"FINDING,...|any"`
	Baseline      string   `help:"A file of accepted findings: what is in it fails only when it grew. Without --fail-on: any." placeholder:"FILE"`
	WriteBaseline bool     `help:"Write the baseline of what is found now, in place of failing."`
	Reason        string   `help:"Why what is new in a written baseline is accepted." placeholder:"TEXT"`
}

// Help is shown by --help.
func (auditCommand) Help() string {
	var b strings.Builder
	b.WriteString("Tells what shape the memory is in: an assessment with numbers, never a score. It changes nothing.\n\nFindings:\n")
	titles := engram.AuditTitles()
	for _, name := range engram.AuditFindings() {
		b.WriteString("  " + name + ": " + titles[name] + "\n")
	}
	b.WriteString("\nThresholds (--with):\n")
	for _, t := range engram.AuditThresholds() {
		fmt.Fprintf(&b, "  %s=%g: %s\n", t.Name, t.Default, t.Meaning)
	}
	b.WriteString(`
Exit codes: 0 nothing fails, 5 a finding fails, 2 usage.

Examples:
  engramd audit
  engramd audit --only orphans_and_dangling,duplicates --suggest
  engramd audit --fail-on any --baseline audit.json
  engramd audit --baseline audit.json --write-baseline --reason "imported as it was"
  engramd audit --against /backups/default-20260115-103000 --json`)
	return b.String()
}

func (c *auditCommand) Run(a *app) error {
	baseline, err := c.check()
	if err != nil {
		return err
	}
	with, err := c.thresholds()
	if err != nil {
		return err
	}
	o := &engram.AuditOptions{Only: c.Only, With: with, Limit: c.Limit, Cursor: c.Cursor, Suggest: c.Suggest}
	switch {
	case isURL(c.Against):
		o.Owner = a.ownerAt(c.Against)
	case c.Against != "":
		o.Owner = engram.AskOwner(a.ctx, c.Against, a.namespace)
	}
	var report *engram.AuditReport
	err = a.withDatabase(reading, func(db database) error {
		report, err = db.Audit(a.ctx, o)
		return err
	})
	if engram.IsCode(err, engram.CodeInvalidArgument) {
		return &usageError{err}
	}
	if err != nil {
		return err
	}
	if c.WriteBaseline {
		return c.write(a, report, baseline)
	}
	verdicts := auditview.Judge(report, baseline, c.failOn())
	if err := c.show(a, report, verdicts, baseline != nil); err != nil {
		return err
	}
	for _, v := range verdicts {
		if v.Fails {
			return errAuditFails
		}
	}
	return nil
}

// failOn are the findings that fail: with a baseline alone, any.
func (c *auditCommand) failOn() []string {
	if len(c.FailOn) == 0 && c.Baseline != "" {
		return []string{"any"}
	}
	return c.FailOn
}

// check refuses flags that make no sense and reads the baseline, nil when there is none
// yet.
func (c *auditCommand) check() (*auditview.Baseline, error) {
	known := engram.AuditFindings()
	for _, name := range c.FailOn {
		if name != "any" && !slices.Contains(known, name) {
			return nil, &usageError{fmt.Errorf("--fail-on %s: there is no such finding; there are any, %s", name, strings.Join(known, ", "))}
		}
		if name != "any" && len(c.Only) > 0 && !slices.Contains(c.Only, name) {
			return nil, &usageError{fmt.Errorf("--fail-on %s: --only leaves it out", name)}
		}
	}
	switch {
	case c.Limit < 1:
		return nil, &usageError{fmt.Errorf("--limit %d: want at least 1", c.Limit)}
	case c.WriteBaseline && c.Baseline == "":
		return nil, &usageError{errors.New("--write-baseline needs --baseline, the file to write")}
	case c.Reason != "" && !c.WriteBaseline:
		return nil, &usageError{errors.New("--reason belongs to --write-baseline")}
	case c.WriteBaseline && (c.JSON || c.SARIF || len(c.FailOn) > 0):
		return nil, &usageError{errors.New("--write-baseline prints no report and never fails: leave --json, --sarif and --fail-on out")}
	case c.WriteBaseline && len(c.Only) > 0:
		return nil, &usageError{errors.New("--write-baseline with --only would forget what else was accepted: leave --only out")}
	case c.Baseline == "":
		return nil, nil
	}
	text, err := os.ReadFile(c.Baseline)
	if errors.Is(err, fs.ErrNotExist) && c.WriteBaseline {
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingFileError{c.Baseline}
	}
	if err != nil {
		return nil, err
	}
	b, err := auditview.ReadBaseline(text)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--baseline %s: %w", c.Baseline, err)}
	}
	return b, nil
}

func (c *auditCommand) thresholds() (map[string]float64, error) {
	out := map[string]float64{}
	for _, s := range c.With {
		name, number, ok := strings.Cut(s, "=")
		n, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil {
			return nil, &usageError{fmt.Errorf("--with %s: want NAME=NUMBER", s)}
		}
		out[name] = n
	}
	return out, nil
}

// write accepts what was found.
func (c *auditCommand) write(a *app, r *engram.AuditReport, old *auditview.Baseline) error {
	reason := strings.TrimSpace(c.Reason)
	if reason == "" {
		reason = "found when the baseline was written"
	}
	b := auditview.NewBaseline(r, old, reason)
	text, err := b.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Baseline, text, 0o644); err != nil {
		return err
	}
	a.printf("%s accepted in %s\n", plural(int64(len(b.Accepted)), "finding"), c.Baseline)
	return nil
}

func (c *auditCommand) show(a *app, r *engram.AuditReport, verdicts map[string]auditview.Verdict, baseline bool) error {
	switch {
	case c.JSON:
		return printObject(a, r)
	case c.SARIF:
		text, err := auditview.SARIF(r, a.namespace, version(), verdicts, baseline)
		if err == nil {
			_, err = a.out.Write(text)
		}
		return err
	}
	v := &auditview.View{Namespace: a.namespace, Width: 100, Clean: printable, Verdicts: verdicts}
	if f, ok := a.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			v.Width = width
		}
		v.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return v.Write(a.out, r)
}

// Package tck reads the openCypher Technology Compatibility Kit, runs its
// scenarios against a Session, and compares strictly: error type, phase and
// detail, exact side effects, order where order is asked for.
package tck

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"
)

// Scenario is one scenario, or one example row of an outline.
type Scenario struct {
	Path  string // of the feature file, relative to features/, with slashes
	Name  string // names repeat within a file
	Row   int    // number of the example row from 1, or 0 without examples
	Steps []Step
}

// Step is one step with what is attached to it.
type Step struct {
	Text  string
	Doc   string     // the text between the quotes, or ""
	Table [][]string // or nil
}

// ID tells the scenario from all others: path, name and example row.
func (s *Scenario) ID() string {
	id := s.Path + ": " + s.Name
	if s.Row > 0 {
		id += " #" + strconv.Itoa(s.Row)
	}
	return id
}

// Area is the folder of the feature file.
func (s *Scenario) Area() string { return path.Dir(s.Path) }

// Load reads all features below dir, in order of their paths. Finding no
// scenario is an error.
func Load(dir string) ([]Scenario, error) {
	root := os.DirFS(dir)
	var paths []string
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(p) == ".feature" {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tck: reading features: %w", err)
	}
	sort.Strings(paths)
	var all []Scenario
	for _, p := range paths {
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return nil, fmt.Errorf("tck: reading features: %w", err)
		}
		list, err := parseFeature(p, strings.ReplaceAll(string(text), "\r\n", "\n"))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("tck: no scenario below %s", dir)
	}
	return all, nil
}

// parseFeature expands one feature file.
func parseFeature(p, text string) ([]Scenario, error) {
	next := 0
	newID := func() string {
		next++
		return strconv.Itoa(next)
	}
	doc, err := gherkin.ParseGherkinDocument(strings.NewReader(text), newID)
	if err != nil {
		return nil, fmt.Errorf("tck: %s: %w", p, err)
	}
	var list []Scenario
	rows := map[string]int{}
	for _, pickle := range gherkin.Pickles(*doc, p, newID) {
		s := Scenario{Path: p, Name: pickle.Name}
		if len(pickle.AstNodeIds) > 1 {
			rows[pickle.AstNodeIds[0]]++
			s.Row = rows[pickle.AstNodeIds[0]]
		}
		for _, step := range pickle.Steps {
			s.Steps = append(s.Steps, convert(step))
		}
		list = append(list, s)
	}
	return list, nil
}

// convert makes a Step of gherkin's.
func convert(step *messages.PickleStep) Step {
	s := Step{Text: strings.TrimSpace(step.Text)}
	if step.Argument == nil {
		return s
	}
	if d := step.Argument.DocString; d != nil {
		s.Doc = d.Content
	}
	if t := step.Argument.DataTable; t != nil {
		s.Table = [][]string{}
		for _, row := range t.Rows {
			cells := make([]string, len(row.Cells))
			for i, c := range row.Cells {
				cells[i] = c.Value
			}
			s.Table = append(s.Table, cells)
		}
	}
	return s
}

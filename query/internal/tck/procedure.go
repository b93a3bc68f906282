package tck

import (
	"fmt"
	"strings"

	"engram/graph/value"
)

// Procedure is a procedure that a scenario declares: a table of inputs and
// outputs. Called with inputs, it yields the outputs of the rows that equal them.
type Procedure struct {
	Name    string
	Params  []Field
	Results []Field
	Rows    [][]value.Value // parameters, then results
}

// Field is a parameter or result: a name and a type such as INTEGER?.
type Field struct{ Name, Type string }

// parseProcedure reads name(a :: T, ...) :: (b :: T, ...) and its table.
func parseProcedure(signature string, table [][]string) (Procedure, error) {
	var p Procedure
	signature = strings.TrimSuffix(strings.TrimSpace(signature), ":")
	name, rest, ok := strings.Cut(signature, "(")
	params, rest, ok2 := strings.Cut(rest, ")")
	_, results, ok3 := strings.Cut(rest, "(")
	results, _, ok4 := strings.Cut(results, ")")
	if !ok || !ok2 || !ok3 || !ok4 {
		return p, fmt.Errorf("tck: malformed procedure signature %q", signature)
	}
	p.Name = strings.TrimSpace(name)
	p.Params, p.Results = parseFields(params), parseFields(results)
	for i, row := range table {
		if i == 0 {
			continue // the names again
		}
		var values []value.Value
		for _, text := range row {
			c, err := parseCell(text)
			if err != nil {
				return p, err
			}
			v, err := literal(c)
			if err != nil {
				return p, err
			}
			values = append(values, v)
		}
		if len(values) == len(p.Params)+len(p.Results) {
			p.Rows = append(p.Rows, values)
		}
	}
	return p, nil
}

// parseFields reads a :: T, b :: U.
func parseFields(text string) []Field {
	var fields []Field
	for _, f := range strings.Split(text, ",") {
		name, typ, ok := strings.Cut(f, "::")
		if ok {
			fields = append(fields, Field{strings.TrimSpace(name), strings.TrimSpace(typ)})
		}
	}
	return fields
}

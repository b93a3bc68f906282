package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"engram"
	"engram/cmd/engramd/internal/pathtree"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// maxCell is how wide a cell of a table gets before it wraps.
	maxCell = 60
	// minCell is how narrow one gets, to make a table fit the screen.
	minCell = 8
)

// printTable prints rows, what was changed, and notices.
func printTable(w io.Writer, res *engram.Result) {
	printRows(w, res, widthOf(w))
	fmt.Fprintln(w, summary(res))
	for _, n := range res.Notices {
		fmt.Fprintf(w, "note: %s (line %d, column %d)\n", printable(n.Message), n.Line, n.Column)
	}
}

// widthOf is how wide the screen is that something is written to; 0: it is none.
func widthOf(w io.Writer) int {
	if p, ok := w.(*paged); ok {
		return p.screen.columns()
	}
	return screenOf(w).columns()
}

// printRows prints rows as a table that fits a width of columns, 0 for any; as records,
// a field a line, when it cannot; and paths alone as trees.
func printRows(w io.Writer, res *engram.Result, width int) {
	if len(res.Columns) == 0 {
		return
	}
	if paths := onlyPaths(res); paths != nil {
		fmt.Fprint(w, printable(pathtree.Draw(paths)))
		return
	}
	cells := make([][]string, len(res.Rows))
	for i, row := range res.Rows {
		cells[i] = make([]string, len(row))
		for j, v := range row {
			cells[i][j] = printable(drawn(v))
		}
	}
	header := make([]string, len(res.Columns))
	for i, c := range res.Columns {
		header[i] = printable(c)
	}
	widths, ok := fit(header, cells, width)
	if !ok {
		printRecords(w, header, cells)
		return
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	configs := make([]table.ColumnConfig, len(header))
	for i := range header {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: widths[i], WidthMaxEnforcer: text.WrapSoft}
		if hasPath(res.Rows, i) {
			configs[i].WidthMaxEnforcer = wrapLines
		}
	}
	t.AppendHeader(asRow(header))
	t.SetColumnConfigs(configs)
	for _, row := range cells {
		t.AppendRow(asRow(row))
	}
	fmt.Fprintln(w, t.Render())
}

func asRow(cells []string) table.Row {
	out := make(table.Row, len(cells))
	for i, c := range cells {
		out[i] = c
	}
	return out
}

// fit tells how wide each column may be, so that the table is no wider than width; ok is
// false when there are too many columns for it.
func fit(header []string, cells [][]string, width int) (widths []int, ok bool) {
	widths = make([]int, len(header))
	for i, h := range header {
		widths[i] = min(text.LongestLineLen(h), maxCell)
	}
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], min(text.LongestLineLen(c), maxCell))
		}
	}
	if width <= 0 {
		for i := range widths {
			widths[i] = maxCell
		}
		return widths, true
	}
	room := width - 3*len(widths) - 1 // borders and blanks
	for {
		sum, widest := 0, 0
		for i, n := range widths {
			sum += n
			if n > widths[widest] {
				widest = i
			}
		}
		if sum <= room {
			return widths, true
		}
		if widths[widest] <= minCell {
			return nil, false
		}
		widths[widest] = max(minCell, widths[widest]-max(1, (sum-room)/len(widths)))
	}
}

// printRecords prints each row as lines of name and value.
func printRecords(w io.Writer, header []string, cells [][]string) {
	longest := 0
	for _, h := range header {
		longest = max(longest, text.LongestLineLen(h))
	}
	for i, row := range cells {
		fmt.Fprintf(w, "── row %d\n", i+1)
		for j, c := range row {
			fmt.Fprintf(w, "%s  %s\n", text.Pad(header[j], longest, ' '), strings.ReplaceAll(c, "\n", "\n"+strings.Repeat(" ", longest+2)))
		}
	}
}

// onlyPaths are the paths of a result that has one column of nothing else, or nil.
func onlyPaths(res *engram.Result) []*engram.Path {
	if len(res.Columns) != 1 || len(res.Rows) == 0 {
		return nil
	}
	var out []*engram.Path
	for _, row := range res.Rows {
		if row[0].Kind() != engram.KindPath {
			return nil
		}
		out = append(out, row[0].AsPath())
	}
	return out
}

func hasPath(rows [][]engram.Value, column int) bool {
	return slices.ContainsFunc(rows, func(row []engram.Value) bool { return row[column].Kind() == engram.KindPath })
}

// wrapLines wraps each line of a tree for itself.
func wrapLines(tree string, width int) string {
	lines := strings.Split(tree, "\n")
	for i, line := range lines {
		lines[i] = text.WrapHard(line, width)
	}
	return strings.Join(lines, "\n")
}

// drawn is a value in a table: a path is a tree, a node has nothing that
// only imports need, all else is as in cell.
func drawn(v engram.Value) string {
	switch {
	case v.Kind() == engram.KindPath:
		return strings.TrimRight(pathtree.Draw([]*engram.Path{v.AsPath()}), "\n")
	case v.Kind() == engram.KindNode && hasImported(v.AsNode()):
		return nodeCell(v)
	}
	return cell(v)
}

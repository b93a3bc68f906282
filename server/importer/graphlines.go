package importer

import (
	"errors"
	"fmt"

	"engram/server/internal/graphline"
)

// readGraphLines reads a graph as JSON Lines. Nodes and edges may come in any order.
func readGraphLines(im *importing, s *stage) error {
	headed, ended := false, false
	later, err := newSpoolFile() // edges, which are staged behind all nodes
	if err != nil {
		return err
	}
	defer func() { _ = later.file.Close() }()
	var end graphline.End
	err = eachLine(im.file, func(line int, text []byte, _ int64) error {
		at := origin{line: line}
		if ended {
			return s.bad(at, errors.New("there is more behind the end of the export"))
		}
		l, err := graphline.Parse(text)
		if err != nil {
			return s.bad(at, err)
		}
		im.report.Lines++
		switch {
		case l.Version > 0:
			headed = true
		case l.Schema != "":
			s.schema = append(s.schema, l.Schema)
		case l.Node != nil:
			err := s.node(at, l.Node)
			var twice *errNodeTwice
			if errors.As(err, &twice) {
				return s.bad(at, err)
			}
			return err
		case l.Edge != nil:
			return later.write(at, text)
		case l.End != nil:
			ended, end = true, *l.End
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = later.each(func(at origin, text []byte) error {
		l, err := graphline.ParseOwn(text)
		if err != nil {
			return err
		}
		return s.edge(at, l.Edge)
	})
	if err != nil {
		return err
	}
	return wholeExport(s, headed, ended, end)
}

// wholeExport tells an export that is cut off.
func wholeExport(s *stage, headed, ended bool, end graphline.End) error {
	switch {
	case headed && !ended:
		return s.bad(origin{}, errors.New("the export is cut off: it has no end line"))
	case ended && (end.Nodes != int64(s.report.Nodes) || end.Edges != int64(s.report.Edges)):
		return s.bad(origin{}, fmt.Errorf("the export tells of %d nodes and %d edges at its end, and holds %d and %d",
			end.Nodes, end.Edges, s.report.Nodes, s.report.Edges))
	}
	return nil
}

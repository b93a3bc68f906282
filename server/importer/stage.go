package importer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// origin is where in the input a record stands.
type origin struct {
	file string // of a folder or an archive; empty for the only file
	line int    // 0 when it is about all of the file
}

// stage gathers what a reader understood, in files without a name beside memory,
// until all of the input was read. Then it is published, or thrown away.
type stage struct {
	ctx          context.Context //nolint:containedctx // of one import
	report       *Report
	owned        bool // nodes tell that they are imported, and what they were
	props        bool // edges have properties of the input's, which are compared
	skipBad      bool
	nodes, edges *spoolFile
	schema       []string
	sum          hash.Hash
	ids          idTable // numbers of the nodes, in order, then of ends that are not among them
	own          uint32  // how many ids are of nodes
	others       []otherEnd
	missing      map[uint32]bool // those of them that no node has, when they are skipped
	types        map[string]uint16
	repeats      repeats
	unnamed      origin // the first node whose id is no text
	hasUnnamed   bool
	bytes        int64
}

// otherEnd is an end of an edge that no node of the input is.
type otherEnd struct {
	id string
	at origin
}

func newStage(ctx context.Context, report *Report, owned bool, opts Options) (*stage, error) {
	s := &stage{ctx: ctx, report: report, owned: owned, skipBad: opts.SkipBad, sum: sha256.New(), types: map[string]uint16{}}
	var err error
	if s.nodes, err = newSpoolFile(); err != nil {
		return nil, err
	}
	if s.edges, err = newSpoolFile(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) close() {
	for _, f := range []*spoolFile{s.nodes, s.edges} {
		if f != nil {
			_ = f.file.Close() // it has no name any more
		}
	}
}

// bad is told of a piece of the input that cannot be understood. It returns the error
// that ends the import, or nil when such pieces are skipped.
func (s *stage) bad(at origin, err error) error {
	var line *LineError
	if errors.As(err, &line) && at.line == 0 {
		at.line, err = line.Line, line.Err
	}
	if !s.skipBad {
		return at.wrap(err)
	}
	s.report.Skipped++
	s.report.problemAt(at, "%v; it is skipped", err)
	return nil
}

// wrap puts the place before an error.
func (at origin) wrap(err error) error {
	if at.line > 0 {
		err = &LineError{at.line, err}
	}
	if at.file != "" {
		err = &FileError{at.file, err}
	}
	return err
}

// errNodeTwice is about a node whose id another one of the input has.
type errNodeTwice struct{ id string }

func (e *errNodeTwice) Error() string { return fmt.Sprintf("the id %q stands twice", e.id) }

// node takes a node in. An id that was there before is an *errNodeTwice.
func (s *stage) node(at origin, n *graphline.Node) error {
	if _, added := s.ids.add(n.ID); !added {
		return &errNodeTwice{n.ID}
	}
	s.own++
	if s.owned {
		n = ownedNode(n)
	} else if !hasProp(n.Props, "id") {
		n.Props = append(n.Props, engram.Prop{Key: "id", Value: stringValue(n.ID)})
	} else if !hasTextID(n) && !s.hasUnnamed {
		s.hasUnnamed, s.unnamed = true, at
	}
	s.report.Nodes++
	return s.write(s.nodes, at, graphline.AppendNode(nil, n))
}

// edge takes an edge in. All nodes of the input come before the first one.
func (s *stage) edge(at origin, e *graphline.Edge) error {
	typ, ok := s.types[e.Type]
	if !ok {
		if len(s.types) > 1<<16-1 {
			return errors.New("the input has more than 65,535 types of edges")
		}
		typ = uint16(len(s.types))
		s.types[strings.Clone(e.Type)] = typ
	}
	var l link
	for _, end := range []struct {
		id     string
		number *uint32
	}{{e.From, &l.src}, {e.To, &l.dst}} {
		n, added := s.ids.add(end.id)
		if added {
			s.others = append(s.others, otherEnd{strings.Clone(end.id), at})
		}
		*end.number = n
	}
	l.typ = typ
	s.repeats.note(l)
	s.report.Edges++
	return s.write(s.edges, at, graphline.AppendEdge(nil, e))
}

func (s *stage) write(f *spoolFile, at origin, line []byte) error {
	s.bytes += int64(len(line))
	_, _ = s.sum.Write(line) // never fails
	if err := f.write(at, line); err != nil {
		return err
	}
	return s.ctx.Err()
}

// fingerprint names what is staged by its content.
func (s *stage) fingerprint() string { return "stage " + hex.EncodeToString(s.sum.Sum(nil)) }

// link makes the numbers of an edge whose ends and type are known.
func (s *stage) link(e *graphline.Edge) link {
	src, _ := s.ids.get(e.From)
	dst, _ := s.ids.get(e.To)
	return link{src, dst, s.types[e.Type]}
}

// eachNode calls fn with every node.
func (s *stage) eachNode(fn func(at origin, n *graphline.Node) error) error {
	return s.nodes.each(func(at origin, text []byte) error {
		line, err := graphline.ParseOwn(text)
		if err != nil {
			return fmt.Errorf("reading what was staged: %w", err)
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		return fn(at, line.Node)
	})
}

// eachEdge calls fn with every edge that does not repeat an earlier one.
func (s *stage) eachEdge(fn func(at origin, e *graphline.Edge) error) error {
	return s.edges.each(func(at origin, text []byte) error {
		line, err := graphline.ParseOwn(text)
		if err != nil {
			return fmt.Errorf("reading what was staged: %w", err)
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		l := s.link(line.Edge)
		if s.missing[l.src] || s.missing[l.dst] {
			s.report.Edges--
			return s.bad(at, errNoNode(map[bool]string{true: line.Edge.From, false: line.Edge.To}[s.missing[l.src]]))
		}
		if s.owned && s.repeats.repeated(l) {
			s.report.Edges--
			return nil
		}
		return fn(at, line.Edge)
	})
}

// spoolFile is a temporary file of records that has no name.
type spoolFile struct {
	file  *os.File
	w     *bufio.Writer
	count int64
	head  []byte
}

func newSpoolFile() (*spoolFile, error) {
	f, err := os.CreateTemp("", "engram-import-*") // mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &spoolFile{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (f *spoolFile) write(at origin, text []byte) error {
	f.count++
	f.head = binary.AppendUvarint(f.head[:0], uint64(at.line))
	f.head = binary.AppendUvarint(f.head, uint64(len(at.file)))
	f.head = binary.AppendUvarint(append(f.head, at.file...), uint64(len(text)))
	if _, err := f.w.Write(f.head); err != nil {
		return err
	}
	_, err := f.w.Write(text)
	return err
}

// each calls fn with every record from the first; text is only good until it returns.
func (f *spoolFile) each(fn func(at origin, text []byte) error) error {
	if err := f.w.Flush(); err != nil {
		return err
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(f.file, 256<<10)
	var text []byte
	piece := func() (err error) {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if uint64(cap(text)) < n {
			text = make([]byte, n)
		}
		text = text[:n]
		_, err = io.ReadFull(r, text)
		return err
	}
	for range f.count {
		line, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if err := piece(); err != nil {
			return err
		}
		at := origin{string(text), int(line)}
		if err := piece(); err != nil {
			return err
		}
		if err := fn(at, text); err != nil {
			return err
		}
	}
	_, err := f.file.Seek(0, io.SeekEnd)
	return err
}

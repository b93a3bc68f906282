package server

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"engram"
	"engram/server/archive"
	"engram/server/exporter"
	"engram/server/importer"
)

// importRoute takes the whole body in, beside the data, before anything of it is
// written: a broken one leaves nothing.
func (s *Server) importRoute(c *call) (err error) {
	opts := importer.Options{Format: c.query.Get("format"), Split: c.query.Get("split")}
	for _, f := range []struct {
		name string
		into *bool
	}{{"dry_run", &opts.DryRun}, {"skip_bad", &opts.SkipBad}, {"restart", &opts.Restart}} {
		if *f.into, err = c.flag(f.name); err != nil {
			return err
		}
	}
	if opts.Split != "" && opts.Split != "heading" {
		return invalid("split", "over HTTP only the headings of Markdown are split: heading")
	}
	if opts.DryRun && opts.Restart {
		return invalid("restart", "a dry run writes nothing: restart does not go with it")
	}
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { _ = done() }() // what was unpacked beside the data
	report, err := importer.Import(c.ctx, c.db, src, opts)
	if err != nil {
		return importError(err, report)
	}
	c.wrote = engram.Counters{NodesCreated: int64(report.Created), EdgesCreated: int64(report.EdgesCreated)}
	return c.answer(report)
}

// source is what is imported: the body, or the folder that it holds.
func (c *call) source() (importer.Source, func() error, error) {
	media, _, _ := mime.ParseMediaType(c.req.Header.Get("Content-Type")) // it was looked at before
	name := c.query.Get("name")
	if name != "" && (!fs.ValidPath(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })) {
		return importer.Source{}, nil, invalid("name", "the name is that of a file, without folders")
	}
	if media != archive.Type {
		staged, err := c.stage()
		if err != nil {
			return importer.Source{}, nil, err
		}
		return importer.Source{Name: cmp.Or(name, "import"), File: staged}, staged.Close, nil // it has no name any more
	}
	if name != "" {
		return importer.Source{}, nil, invalid("name", "an archive has names of its own")
	}
	src, done, err := importer.OpenArchive(c.ctx, bufio.NewReaderSize(slowBody{c}, chunk))
	if errors.Is(err, archive.ErrRefused) {
		return src, nil, invalid("", err.Error()+": nothing was written")
	}
	if err != nil {
		return src, nil, c.bodyError(err)
	}
	return src, done, nil
}

// importError tells a broken line with its number, and what was written before.
func importError(err error, report importer.Report) error {
	var line *importer.LineError
	var e *engram.Error
	if errors.As(err, &e) {
		return err
	}
	left := "nothing was written"
	if report.Transactions > 0 {
		left = fmt.Sprintf("%d transactions were committed before, and importing again goes on from there", report.Transactions)
	}
	p := invalid("", err.Error()+": "+left)
	if errors.As(err, &line) {
		p.Line = line.Line
	}
	return p
}

// stage copies the body into a file that has no name.
func (c *call) stage() (_ *os.File, err error) {
	f, err := os.CreateTemp("", "engram-import-*") // mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error is the one to tell
		}
	}()
	if _, err := io.Copy(f, slowBody{c}); err != nil {
		return nil, c.bodyError(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return f, nil
}

// bodyError tells what kept a body from being read.
func (c *call) bodyError(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, codeBodyTimeout, "nothing of the body came for "+c.s.config.BodyTimeout.String())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "the body ended early: nothing was written")
	}
	return err
}

// slowBody reads a long body and gives the client some time for each piece.
type slowBody struct{ c *call }

// Read reads a piece.
func (b slowBody) Read(p []byte) (int, error) {
	if err := b.c.ctx.Err(); err != nil {
		return 0, err
	}
	// Recorders of tests have no deadlines.
	_ = http.NewResponseController(b.c.w).SetReadDeadline(time.Now().Add(b.c.s.config.BodyTimeout))
	return b.c.req.Body.Read(p)
}

// export writes one moment of the graph, as the client takes it.
func (s *Server) export(c *call) error {
	format := c.query.Get("format")
	dir, err := exporter.NeedsDir(format)
	if err != nil {
		return invalid("format", "the format is one of "+strings.Join(exporter.Formats(), ", "))
	}
	h := c.w.Header()
	h.Set("Content-Type", typeNDJSON)
	switch {
	case dir:
		h.Set("Content-Type", archive.Type)
	case format == "cypher":
		h.Set("Content-Type", typeText)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+c.namespace+`"`)
	out := bufio.NewWriterSize(patient{c}, chunk)
	if dir {
		err = c.exportDir(out, format)
	} else {
		_, err = exporter.Export(c.ctx, c.db, out, exporter.Options{Format: format})
	}
	if err != nil {
		return err // cuts the connection if the answer has begun
	}
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	return nil
}

// exportDir writes a format that is a folder as an archive of it, once all of it was
// written beside the data.
func (c *call) exportDir(out io.Writer, format string) (err error) {
	dir, err := os.MkdirTemp("", "engram-export-*") // mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if _, err := exporter.ExportDir(c.ctx, c.db, root, exporter.Options{Format: format}); err != nil {
		return err
	}
	_, err = archive.Pack(c.ctx, out, c.namespace, root, nil)
	return err
}

// backupResponseOf tells about a backup by the name of its folder alone.
func backupResponseOf(b *engram.Backup) backupResponse {
	return backupResponse{Name: filepath.Base(b.Path), Bytes: b.Bytes, Seq: b.Seq}
}

package server

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"engram"
	"engram/server/exporter"
	"engram/server/importer"
)

// importRoute takes the whole body in, beside the data, before anything of it is
// written: a broken one leaves nothing.
func (s *Server) importRoute(c *call) error {
	staged, err := c.stage()
	if err != nil {
		return err
	}
	defer func() { _ = staged.Close() }() // it has no name any more
	dry, err := c.flag("dry_run")
	if err != nil {
		return err
	}
	skip, err := c.flag("skip_bad")
	if err != nil {
		return err
	}
	report, err := importer.Import(c.ctx, c.db, importer.Source{Name: "import", File: staged}, importer.Options{Format: c.query.Get("format"), DryRun: dry, SkipBad: skip})
	if err != nil {
		return importError(err)
	}
	c.wrote = engram.Counters{NodesCreated: int64(report.Created), EdgesCreated: int64(report.EdgesCreated)}
	return c.answer(report)
}

// importError tells a broken line with its number.
func importError(err error) error {
	var line *importer.LineError
	var e *engram.Error
	if errors.As(err, &e) {
		return err
	}
	p := invalid("", err.Error()+": nothing was written")
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
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			return nil, err
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, newProblem(http.StatusRequestTimeout, codeBodyTimeout, "nothing of the body came for "+c.s.config.BodyTimeout.String())
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "the body ended early: nothing was written")
		}
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return f, nil
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
	if err != nil || dir {
		return invalid("format", "the format is one of "+strings.Join(fileFormats(), ", "))
	}
	h := c.w.Header()
	h.Set("Content-Type", typeNDJSON)
	if format == "cypher" {
		h.Set("Content-Type", typeText)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+c.namespace+`"`)
	out := bufio.NewWriterSize(patient{c}, chunk)
	if _, err := exporter.Export(c.ctx, c.db, out, exporter.Options{Format: format}); err != nil {
		return err // cuts the connection if the answer has begun
	}
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	return nil
}

// fileFormats are the formats of exports that are one file.
func fileFormats() []string {
	var out []string
	for _, f := range exporter.Formats() {
		if dir, err := exporter.NeedsDir(f); err == nil && !dir {
			out = append(out, f)
		}
	}
	return out
}

// backupResponseOf tells about a backup by the name of its folder alone.
func backupResponseOf(b *engram.Backup) backupResponse {
	return backupResponse{Name: filepath.Base(b.Path), Bytes: b.Bytes, Seq: b.Seq}
}

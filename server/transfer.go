package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"engram"
	"engram/server/importer"
)

// importLine is one line of an import.
type importLine struct {
	ID           string `json:"id" required:"true"`
	Text         string `json:"text" doc:"The memory."`
	Conversation string `json:"conversation"`
	Session      any    `json:"session" doc:"A text or a whole number."`
	Date         string `json:"date"`
	Speaker      string `json:"speaker"`
	Title        string `json:"title"`
}

// importResponse tells what an import understood and what it left.
type importResponse struct {
	Lines         int             `json:"lines"`
	Memories      int             `json:"memories"`
	Conversations int             `json:"conversations"`
	Sessions      int             `json:"sessions"`
	Transactions  int             `json:"transactions"`
	Problems      []importProblem `json:"problems" doc:"What was taken in otherwise than meant; the first ones of them."`
	ProblemCount  int             `json:"problem_count"`
}

type importProblem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// importRoute takes the whole body in, beside the data, before anything of it is
// written: a broken one leaves nothing.
func (s *Server) importRoute(c *call) error {
	staged, err := c.stage()
	if err != nil {
		return err
	}
	defer func() { _ = staged.Close() }() // it has no name any more
	report, err := importer.Memories(c.ctx, importer.Into(c.db), staged, importer.Options{})
	if err != nil {
		return importError(err)
	}
	out := importResponse{
		Lines: report.Lines, Memories: report.Memories, Conversations: report.Conversations, Sessions: report.Sessions,
		Transactions: report.Transactions, Problems: []importProblem{}, ProblemCount: report.ProblemCount,
	}
	for _, p := range report.Problems {
		out.Problems = append(out.Problems, importProblem{p.Line, p.Reason})
	}
	return c.answer(out)
}

// importError tells a broken line with its number.
func importError(err error) error {
	var line *importer.LineError
	var e *engram.Error
	if errors.As(err, &line) && !errors.As(err, &e) {
		p := invalid("", err.Error()+": nothing was written")
		p.Line = line.Line
		return p
	}
	return err
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

// export writes one moment of the graph, line by line. What is read waits in a file
// meanwhile, so that no transaction is open while the client takes it.
func (s *Server) export(c *call) error {
	var nodes, edges *engram.Rows
	err := c.inView(func(tx *engram.Tx) (err error) {
		if nodes, err = c.rows(tx, &statement{text: "MATCH (n) RETURN n"}); err != nil {
			return err
		}
		edges, err = c.rows(tx, &statement{text: "MATCH ()-[r]->() RETURN r"})
		return err
	})
	for _, rows := range []*engram.Rows{nodes, edges} {
		if rows != nil {
			defer func() { _ = rows.Close() }() // a reading error has been told
		}
	}
	if err != nil {
		return plain(err)
	}
	h := c.w.Header()
	h.Set("Content-Type", typeNDJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+c.namespace+`.jsonl"`)
	out := bufio.NewWriterSize(patient{c}, chunk)
	if err := exportRows(c.ctx, out, "node", nodes); err != nil {
		return err
	}
	if err := exportRows(c.ctx, out, "edge", edges); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, `{"end":{"nodes":%d,"edges":%d}}`+"\n", nodes.Count(), edges.Count()) // the writer keeps its error
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	return nil
}

func exportRows(ctx context.Context, out *bufio.Writer, what string, rows *engram.Rows) error {
	var buf []byte
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		buf = append(append(buf[:0], `{"`...), what...)
		buf = append(row[0].AppendJSON(append(buf, `":`...)), "}\n"...)
		if _, err := out.Write(buf); err != nil {
			panic(http.ErrAbortHandler) // the client is gone, or too slow
		}
	}
	return nil
}

// backupResponseOf tells about a backup by the name of its folder alone.
func backupResponseOf(b *engram.Backup) backupResponse {
	return backupResponse{Name: filepath.Base(b.Path), Bytes: b.Bytes, Seq: b.Seq}
}

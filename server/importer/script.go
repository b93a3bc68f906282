package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"engram"
)

const (
	// scriptBatch is how many statements of a script make one transaction. It is fixed:
	// what was run before is known by batches.
	scriptBatch = 200
	// maxStatement bounds one statement of a script in bytes.
	maxStatement = 16 << 20
)

// statementReader cuts a script at its semicolons, without those in strings, names in
// back quotes and comments, holding one statement at a time.
type statementReader struct {
	r     *bufio.Reader
	line  int // of the next byte
	text  bytes.Buffer
	begin int  // line where the statement begins
	fresh bool // at the begin of a line, before the statement
}

// errUnfinished is about a script that ends inside of a string, a name or a comment.
var errUnfinished = errors.New("the script ends inside of quotes or a comment that begins in this statement")

// next returns the next statement that is not empty and the line where it begins; io.EOF
// behind the last one.
func (s *statementReader) next() (text string, line int, err error) {
	s.text.Reset()
	s.begin, s.fresh = 0, true
	for {
		c, err := s.read()
		if errors.Is(err, io.EOF) {
			if t := strings.TrimSpace(s.text.String()); s.begin > 0 && t != "" {
				return t, s.begin, nil
			}
			return "", s.line, io.EOF
		}
		if err != nil {
			return "", s.line, err
		}
		switch {
		case c == ':' && s.begin == 0 && s.fresh: // for a shell, such as :begin
			err = s.until("\n", false)
		case c == '/' && s.peek('/'):
			err = s.until("\n", false)
			_ = s.text.WriteByte('\n')
		case c == '/' && s.peek('*'):
			_, _ = s.read()
			if err = s.until("*/", false); errors.Is(err, io.EOF) {
				err = errUnfinished
			}
			_ = s.text.WriteByte(' ')
		case c == '\'' || c == '"' || c == '`':
			s.keep(c)
			err = s.quoted(c)
		case c == ';':
			if t := strings.TrimSpace(s.text.String()); s.begin > 0 && t != "" {
				return t, s.begin, nil
			}
			s.text.Reset()
			s.begin = 0
		default:
			s.keep(c)
		}
		if errors.Is(err, io.EOF) {
			continue
		}
		if err == nil && s.text.Len() > maxStatement {
			err = fmt.Errorf("the statement is longer than %d MiB", maxStatement>>20)
		}
		if err != nil {
			return "", max(s.begin, 1), err
		}
	}
}

func (s *statementReader) read() (byte, error) {
	c, err := s.r.ReadByte()
	if c == '\n' {
		s.line++
		s.fresh = true
	}
	return c, err
}

func (s *statementReader) peek(want byte) bool {
	next, err := s.r.Peek(1)
	return err == nil && next[0] == want
}

// keep adds a byte to the statement, which begins with the first that is no blank.
func (s *statementReader) keep(c byte) {
	if s.begin == 0 {
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			return
		}
		s.begin = s.line
	}
	s.fresh = false
	_ = s.text.WriteByte(c)
}

// until reads to the end of what end closes; keep adds it to the statement.
func (s *statementReader) until(end string, keep bool) error {
	var last byte
	for {
		c, err := s.read()
		if err != nil {
			return err
		}
		if keep {
			_ = s.text.WriteByte(c)
		}
		if c == end[len(end)-1] && (len(end) == 1 || last == end[0]) {
			return nil
		}
		last = c
	}
}

func (s *statementReader) quoted(quote byte) error {
	for {
		c, err := s.read()
		if errors.Is(err, io.EOF) {
			return errUnfinished
		}
		if err != nil {
			return err
		}
		_ = s.text.WriteByte(c)
		switch {
		case c == '\\' && quote != '`':
			if c, err = s.read(); err == nil {
				_ = s.text.WriteByte(c)
			}
		case c == quote:
			return nil
		}
		if s.text.Len() > maxStatement {
			return fmt.Errorf("the statement is longer than %d MiB", maxStatement>>20)
		}
	}
}

// runScript reads a script to its end, and then runs its statements in batches.
func runScript(im *importing) error {
	staged, err := newSpoolFile()
	if err != nil {
		return err
	}
	defer func() { _ = staged.file.Close() }() // it has no name any more
	s := &stage{ctx: im.ctx, report: &im.report, skipBad: im.opts.SkipBad}
	r := &statementReader{r: bufio.NewReaderSize(im.file, 256<<10), line: 1}
	if bom, _ := r.r.Peek(3); string(bom) == "\ufeff" {
		_, _ = r.r.Discard(3)
	}
	for {
		text, line, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return origin{line: line}.wrap(err) // nobody knows where the next one begins
		}
		if word := strings.ToUpper(strings.TrimSpace(text)); word == "BEGIN" || word == "COMMIT" {
			continue // statements are run in transactions of our own
		}
		if !utf8.ValidString(text) {
			err = errNotUTF8
		} else {
			_, err = engram.Writes(text)
		}
		if err == nil {
			err = staged.write(origin{line: line}, []byte(text))
		} else {
			err = s.bad(origin{line: line}, shortError(err))
		}
		if err == nil {
			err = im.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	im.report.Statements = int(staged.count)
	if im.opts.DryRun {
		return nil
	}
	db, err := im.open("")
	if err != nil {
		return err
	}
	return (&scriptRun{stage: s, db: db, opts: im.opts, sum: sha256.New()}).run(staged)
}

// shortError tells the error of a statement without the statement.
func shortError(err error) error {
	var e *engram.Error
	if !errors.As(err, &e) {
		return err
	}
	text := firstLine(e.Message)
	if _, message, ok := strings.Cut(text, fmt.Sprintf(" at line %d, column %d: ", e.Line, e.Column)); ok && e.Line > 0 {
		text = message
	}
	if e.Hint != "" {
		text += ". " + e.Hint
	}
	return &statementError{text, err}
}

// statementError is an error in the words of a script's reader.
type statementError struct {
	text string
	err  error
}

func (e *statementError) Error() string { return e.text }
func (e *statementError) Unwrap() error { return e.err }

// scriptRun runs the statements of a script.
type scriptRun struct {
	*stage
	db   *engram.DB
	opts Options
	sum  hash.Hash // of the statements up to here
	rows []row[string]
	done int
}

func (r *scriptRun) run(staged *spoolFile) error {
	err := staged.each(func(at origin, text []byte) error {
		statement := string(text)
		if !alone(statement) {
			r.rows = append(r.rows, row[string]{at, statement})
			if len(r.rows) < scriptBatch {
				return nil
			}
			return r.flush()
		}
		if err := r.flush(); err != nil {
			return err
		}
		r.rows = []row[string]{{at, statement}}
		return r.flush()
	})
	if err == nil {
		err = r.flush()
	}
	return err
}

// alone reports whether a statement is a transaction of its own: it declares
// something, or makes transactions.
func alone(text string) bool {
	upper := strings.ToUpper(text)
	if strings.Contains(upper, "IN TRANSACTIONS") {
		return true
	}
	for _, begin := range []string{"CREATE INDEX", "CREATE RANGE", "CREATE TEXT", "CREATE FULLTEXT", "CREATE CONSTRAINT", "CREATE LAYER", "CREATE RELATION", "ALTER ", "DROP "} {
		if strings.HasPrefix(strings.Join(strings.Fields(upper[:min(len(upper), 64)]), " ")+" ", begin) {
			return true
		}
	}
	return strings.Contains(upper, "DECLARE ")
}

// flush runs the batch at hand as one transaction, once: what the script brought before
// it was interrupted, or before it was mended further down, is known by a digest of all
// that stands before.
func (r *scriptRun) flush() error {
	rows := r.rows
	r.rows = nil
	if len(rows) == 0 {
		return nil
	}
	for _, s := range rows {
		_, _ = io.WriteString(r.sum, s.item+";") // never fails
	}
	key := ""
	if !r.opts.Restart {
		key = "import script " + hex.EncodeToString(r.sum.Sum(nil))
		if _, ok, err := r.db.Committed(key); err != nil || ok {
			r.report.Resumed += len(rows)
			r.done += len(rows)
			return err
		}
	}
	seq, err := r.batch(rows, key)
	if err != nil && r.skipBad && r.ctx.Err() == nil && len(rows) > 1 {
		seq, err = r.oneByOne(rows, key)
	} else if err != nil && r.skipBad && r.ctx.Err() == nil {
		err = r.bad(rows[0].at, shortError(err))
	}
	if err != nil {
		return err
	}
	r.done += len(rows)
	if r.opts.Ack != nil {
		r.opts.Ack(seq, r.done)
	}
	return nil
}

func (r *scriptRun) batch(rows []row[string], key string) (seq uint64, err error) {
	if len(rows) == 1 && alone(rows[0].item) {
		res, err := r.single(rows[0].item, key)
		if err != nil {
			return 0, rows[0].at.wrap(shortError(err))
		}
		r.count(&res.Counters)
		return r.db.Seq(), nil
	}
	tx, err := r.db.Begin(r.ctx, true)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	var all engram.Counters
	for _, s := range rows {
		res, err := tx.Query(r.ctx, s.item, nil)
		if err != nil {
			return 0, s.at.wrap(shortError(err))
		}
		all = all.Plus(res.Counters)
	}
	if seq, err = tx.CommitSeq(r.ctx, key); err != nil {
		return 0, err
	}
	r.count(&all)
	return seq, nil
}

// single runs a statement that is a transaction of its own, or several.
func (r *scriptRun) single(text, key string) (*engram.Result, error) {
	if key == "" {
		return r.db.Query(r.ctx, text, nil)
	}
	res, _, err := r.db.QueryOnce(r.ctx, key, text, nil)
	var e *engram.Error
	if errors.As(err, &e) && e.Code == engram.CodeInvalidArgument && strings.Contains(e.Message, "idempotency key") {
		return r.db.Query(r.ctx, text, nil) // it makes transactions, or only reads
	}
	return res, err
}

func (r *scriptRun) count(c *engram.Counters) {
	r.report.Transactions++
	r.report.Nodes += int(c.NodesCreated)
	r.report.Edges += int(c.EdgesCreated)
	r.report.Created += int(c.NodesCreated)
	r.report.EdgesCreated += int(c.EdgesCreated)
}

// oneByOne runs the statements of a batch that failed, each in a transaction of its
// own, and leaves out those that fail.
func (r *scriptRun) oneByOne(rows []row[string], key string) (seq uint64, err error) {
	for i, s := range rows {
		k := ""
		if key != "" {
			k = fmt.Sprintf("%s %d", key, i)
		}
		if _, ok, err := r.db.Committed(k); k != "" && (err != nil || ok) {
			if err != nil {
				return 0, err
			}
			r.report.Resumed++
			continue
		}
		if seq, err = r.batch(rows[i:i+1], k); err != nil {
			if r.ctx.Err() != nil {
				return 0, err
			}
			var line *LineError
			if errors.As(err, &line) {
				err = line.Err
			}
			if err = r.bad(s.at, err); err != nil {
				return 0, err
			}
		}
	}
	return seq, nil
}

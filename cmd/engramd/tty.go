package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// What a line ends with other than Enter.
var (
	errEscape = errors.New("escape")
	errClosed = errors.New("closed") // Ctrl-D, or the terminal is gone
)

// tty is a terminal that a person types into. It reads only while it is asked to, and
// only then keys come one by one.
type tty struct {
	ctx   context.Context
	in    *os.File
	lines *term.Terminal
	last  byte // that was read
	want  chan struct{}
	got   chan keys
	owed  bool // a read that was not waited for
	rest  []byte
}

type keys struct {
	bytes []byte
	err   error
}

// openTTY uses in and out as a terminal, if in is one.
func openTTY(ctx context.Context, in io.Reader, out io.Writer) *tty {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	t := &tty{ctx: ctx, in: file, want: make(chan struct{}), got: make(chan keys, 1)}
	t.lines = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t, out}, "")
	go func() { // ends with the want channel, or with the process while it reads
		for range t.want {
			b := make([]byte, 256)
			n, err := t.in.Read(b)
			t.got <- keys{b[:n], err}
		}
	}()
	return t
}

func (t *tty) close() { close(t.want) }

// Read reads keys; it ends when the program does.
func (t *tty) Read(p []byte) (int, error) {
	if len(t.rest) > 0 {
		n := copy(p, t.rest)
		t.rest, t.last = t.rest[n:], p[n-1]
		return n, nil
	}
	if !t.owed {
		select {
		case t.want <- struct{}{}:
		case <-t.ctx.Done():
			return 0, io.EOF
		}
	}
	t.owed = true
	select {
	case k := <-t.got:
		t.owed = false
		if len(k.bytes) > 0 {
			n := copy(p, k.bytes)
			t.rest, t.last = k.bytes[n:], p[n-1]
			return n, nil
		}
		return 0, errors.Join(io.EOF, k.err)
	case <-t.ctx.Done():
		return 0, io.EOF
	}
}

// raw gives keys as they are typed until restore.
func (t *tty) raw() (restore func(), err error) {
	fd := int(t.in.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(fd, state) }, nil // a terminal that is gone needs none
}

const ctrlC, ctrlD, escape = 3, 4, 27

// line reads a line, with editing and history. errInterrupt is Ctrl-C.
func (t *tty) line(prompt string) (string, error) {
	restore, err := t.raw()
	if err != nil {
		return "", errClosed
	}
	defer restore()
	if w, h, err := term.GetSize(int(t.in.Fd())); err == nil && w > 0 {
		_ = t.lines.SetSize(w, h) // it cannot fail with a width
	}
	t.last = 0
	t.lines.SetPrompt(prompt)
	line, err := t.lines.ReadLine()
	switch {
	case err == nil, errors.Is(err, term.ErrPasteIndicator):
		return line, nil
	case t.last == ctrlC:
		return "", errInterrupt
	}
	return "", errClosed
}

// answer reads the answer to a question of consent: without history, and deaf to what
// was typed before it was asked. Escape, Ctrl-C and the end are answers of their own.
func (t *tty) answer(out io.Writer, prompt string) (string, error) {
	restore, err := t.raw()
	if err != nil {
		return "", errClosed
	}
	defer restore()
	dropInput(t.in)
	t.rest = nil
	_, _ = io.WriteString(out, prompt) // who cannot read it cannot answer it
	var typed []byte
	var b [256]byte
	for {
		n, err := t.Read(b[:])
		if err != nil {
			return "", errClosed
		}
		for i := 0; i < n; i++ {
			switch c := b[i]; {
			case c == ctrlC:
				return "", errInterrupt
			case c == ctrlD:
				return "", errClosed
			case c == escape:
				return "", errEscape
			case c == '\r' || c == '\n':
				_, _ = io.WriteString(out, "\r\n")
				return strings.ToValidUTF8(string(typed), ""), nil
			case c == 127 || c == 8:
				if len(typed) > 0 {
					_, size := utf8.DecodeLastRune(typed)
					typed = typed[:len(typed)-size]
					_, _ = io.WriteString(out, "\b \b")
				}
			case c >= ' ' && len(typed) < 4096:
				typed = append(typed, c)
				_, _ = out.Write(b[i : i+1])
			}
		}
	}
}

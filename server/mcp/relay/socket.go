// Package relay lets several processes that speak MCP over stdio share one data
// directory: one of them owns it and serves the others over a socket in it. When
// the owner ends, another one takes its place, and what was asked and not answered
// is asked again.
package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

const (
	socketName = "mcp.sock"
	// protocol is what two processes have to agree on.
	protocol = 1
	// handshake is how long either side waits for the other one's first line.
	handshake = 5 * time.Second
	// maxSessions is how many processes one owner serves.
	maxSessions = 256
	// maxHello bounds the first line in bytes.
	maxHello = 64 << 10
)

// Hello says what a session is to be like.
type Hello struct {
	Protocol  int      `json:"protocol"`
	Namespace string   `json:"namespace"`
	Tools     []string `json:"tools,omitempty"`
	Compat    string   `json:"compat,omitempty"`
	ReadOnly  bool     `json:"read_only,omitempty"`
	// Session is a name of the client's that stays when it connects again.
	Session string `json:"session"`
}

type welcome struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// RefusedError is what the owner says to a session that it does not serve.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.Reason }

// address is the socket of a directory. Linux takes it by way of the open
// directory, since a socket's path has at most 107 bytes.
func address(dir string) (path string, done func(), err error) {
	if runtime.GOOS != "linux" {
		return filepath.Join(dir, socketName), func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), socketName), func() { _ = f.Close() }, nil
}

// Listen opens the socket of a data directory, which the caller must own. Closing
// the listener removes it.
func Listen(dir string) (net.Listener, error) {
	path, done, err := address(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	file := filepath.Join(dir, socketName)
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err // of an owner that was killed
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(file, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{l, file}, nil
}

// listener removes its socket when it is closed.
type listener struct {
	net.Listener
	file string
}

// Close removes the socket and stops listening.
func (l *listener) Close() error { return errors.Join(os.Remove(l.file), l.Listener.Close()) }

// Dial begins a session with the owner of a data directory.
func Dial(ctx context.Context, dir string, h Hello) (net.Conn, error) {
	path, done, err := address(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	var w welcome
	h.Protocol = protocol
	_ = conn.SetDeadline(time.Now().Add(handshake))
	if err = writeLine(conn, h); err == nil {
		err = readLine(conn, &w)
	}
	if err == nil && !w.OK {
		err = &RefusedError{w.Error}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, conn.SetDeadline(time.Time{})
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads a short line, byte by byte so that nothing behind it is taken.
func readLine(r io.Reader, v any) error {
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			return json.Unmarshal(line, v)
		}
		if line = append(line, one[0]); len(line) > maxHello {
			return bufio.ErrTooLong
		}
	}
}

// Session is one that an owner serves, until it returns.
type Session func(ctx context.Context, in io.Reader, out io.Writer) error

// Serve takes in sessions until the listener is closed or ctx ends, and then ends
// them. begin makes a session of what a client says; its error is told to the client.
func Serve(ctx context.Context, l net.Listener, begin func(Hello) (Session, error)) {
	ctx, cancel := context.WithCancel(ctx)
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	places := make(chan struct{}, maxSessions)
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of file descriptors, say
			continue
		}
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		sessions.Go(func() {
			defer func() { <-places }()
			serve(ctx, conn, begin)
		})
	}
}

func serve(ctx context.Context, conn net.Conn, begin func(Hello) (Session, error)) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var h Hello
	_ = conn.SetDeadline(time.Now().Add(handshake))
	if err := readLine(conn, &h); err != nil {
		return
	}
	session, err := accept(h, begin)
	if err != nil {
		_ = writeLine(conn, welcome{Error: err.Error()})
		return
	}
	if writeLine(conn, welcome{OK: true}) != nil || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	// It ends with the connection, not with ctx: what it is still doing must not be
	// told as failed, since the client asks the next owner again.
	_ = session(context.WithoutCancel(ctx), conn, conn)
}

func accept(h Hello, begin func(Hello) (Session, error)) (Session, error) {
	if h.Protocol != protocol {
		return nil, errors.New("the process that has the data directory is another version of engramd; stop it, or use the same version")
	}
	if len(h.Session) > 100 {
		return nil, errors.New("the name of the session has more than 100 bytes")
	}
	return begin(h)
}

package relay_test

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
	"strings"
	"testing"

	"go.uber.org/goleak"

	"engram/server/mcp/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner is the other end of a front's connection, played by a test.
type owner struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Scanner
}

// front is a front with a client and owners that a test plays.
type front struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	owners chan *owner
	fail   chan error // what connecting fails with
	done   chan error
}

func newFront(t *testing.T) *front {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	f := &front{t, inW, bufio.NewScanner(outR), make(chan *owner, 10), make(chan error, 10), make(chan error, 1)}
	f.out.Buffer(nil, 20<<20)
	r := &relay.Front{Connect: func(context.Context) (io.ReadWriteCloser, error) {
		select {
		case err := <-f.fail:
			return nil, err
		default:
		}
		mine, its := net.Pipe()
		o := &owner{t, its, bufio.NewScanner(its)}
		o.lines.Buffer(nil, 20<<20)
		f.owners <- o
		return mine, nil
	}}
	go func() { f.done <- r.Run(context.Background(), inR, outW); _ = outW.Close() }()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return f
}

func (f *front) send(line string) {
	f.t.Helper()
	if _, err := io.WriteString(f.in, line+"\n"); err != nil {
		f.t.Fatal(err)
	}
}

func (f *front) gets(want string) {
	f.t.Helper()
	if !f.out.Scan() || f.out.Text() != want {
		f.t.Fatalf("the client gets %q, want %q", f.out.Text(), want)
	}
}

func (o *owner) gets(want ...string) {
	o.t.Helper()
	for _, w := range want {
		if !o.lines.Scan() {
			o.t.Fatalf("the owner gets nothing, want %q (%v)", w, o.lines.Err())
		}
		var got, wanted any
		_ = json.Unmarshal(o.lines.Bytes(), &got)
		_ = json.Unmarshal([]byte(w), &wanted)
		g, _ := json.Marshal(got)
		x, _ := json.Marshal(wanted)
		if string(g) != string(x) {
			o.t.Fatalf("the owner gets %s, want %s", g, x)
		}
	}
}

func (o *owner) say(line string) {
	o.t.Helper()
	if _, err := io.WriteString(o.conn, line+"\n"); err != nil {
		o.t.Fatal(err)
	}
}

// TestTakeover holds that another owner hears what the one before knew and what was
// not answered, and the client only gets its answers.
func TestTakeover(t *testing.T) {
	f := newFront(t)
	first := <-f.owners
	f.send(`{"id":0,"method":"initialize","params":{"x":1}}`)
	first.gets(`{"id":0,"method":"initialize","params":{"x":1}}`)
	first.say(`{"id":0,"result":{}}`)
	f.gets(`{"id":0,"result":{}}`)
	f.send(`{"method":"notifications/initialized"}`)
	first.gets(`{"method":"notifications/initialized"}`)
	for i, line := range []string{
		`{"id":1,"method":"resources/subscribe","params":{"uri":"u"}}`,
		`{"id":2,"method":"resources/subscribe","params":{"uri":"v"}}`,
		`{"id":3,"method":"resources/unsubscribe","params":{"uri":"v"}}`,
	} {
		f.send(line)
		first.gets(line)
		first.say(fmt.Sprintf(`{"id":%d,"result":{}}`, i+1))
		f.gets(fmt.Sprintf(`{"id":%d,"result":{}}`, i+1))
	}
	for i := 4; i < 8; i++ {
		f.send(fmt.Sprintf(`{"id":%d,"method":"tools/call"}`, i))
		first.lines.Scan()
	}
	first.say(`{"id":5,"result":{"n":5}}`)
	f.gets(`{"id":5,"result":{"n":5}}`)
	f.send(`{"method":"notifications/cancelled","params":{"requestId":6}}`)
	first.lines.Scan()
	_ = first.conn.Close()

	second := <-f.owners
	second.gets(`{"id":"engram-relay","method":"initialize","params":{"x":1}}`)
	second.say(`{"id":"engram-relay","result":{}}`)
	second.gets(`{"method":"notifications/initialized"}`, `{"id":"engram-relay","method":"resources/subscribe","params":{"uri":"u"}}`)
	second.say(`{"method":"notifications/resources/updated"}`)
	f.gets(`{"method":"notifications/resources/updated"}`)
	second.say(`{"id":"engram-relay","result":{}}`)
	second.gets(`{"id":4,"method":"tools/call"}`, `{"id":7,"method":"tools/call"}`)
	second.say(`{"id":7,"result":{"n":7}}`)
	f.gets(`{"id":7,"result":{"n":7}}`)
	_ = f.in.Close() // the last answer is still waited for
	second.say(`{"id":4,"result":{"n":4}}`)
	f.gets(`{"id":4,"result":{"n":4}}`)
	if err := <-f.done; err != nil {
		t.Error(err)
	}
}

// TestNoOwner holds that requests are answered when nobody can have the directory,
// and served when somebody can again.
func TestNoOwner(t *testing.T) {
	f := newFront(t)
	first := <-f.owners
	f.send(`{"id":1,"method":"a"}`)
	first.gets(`{"id":1,"method":"a"}`)
	f.fail <- errors.New("it is damaged")
	_ = first.conn.Close()
	f.gets(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the data directory cannot be used: it is damaged"}}`)
	f.send(`{"id":2,"method":"b"}`)
	second := <-f.owners
	second.gets(`{"id":2,"method":"b"}`)
	second.say(`{"id":2,"result":1}`)
	f.gets(`{"id":2,"result":1}`)
	_ = f.in.Close()
	if err := <-f.done; err != nil {
		t.Error(err)
	}
}

// TestGivesUp holds that a request that ends every session is not sent for ever.
func TestGivesUp(t *testing.T) {
	f := newFront(t)
	o := <-f.owners
	f.send(`{"id":1,"method":"poison"}`)
	for range 3 {
		o.gets(`{"id":1,"method":"poison"}`)
		_ = o.conn.Close()
		o = <-f.owners
	}
	o.gets(`{"id":1,"method":"poison"}`)
	_ = o.conn.Close()
	f.gets(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the session ended whenever this was asked"}}`)
	o = <-f.owners
	f.send(`{"id":2,"method":"a"}`)
	o.gets(`{"id":2,"method":"a"}`)
	o.say(`{"id":2,"result":1}`)
	f.gets(`{"id":2,"result":1}`)
	_ = f.in.Close()
	if err := <-f.done; err != nil {
		t.Error(err)
	}
}

// TestLines holds what a front does with what is no message.
func TestLines(t *testing.T) {
	f := newFront(t)
	o := <-f.owners
	f.send("hello")
	f.gets(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON-RPC message: one JSON object a line is expected"}}`)
	f.send("")
	f.send(`[{"id":1,"method":"a"}, {"id":2,"method":"b"}]`)
	o.gets(`{"id":1,"method":"a"}`, `{"id":2,"method":"b"}`)
	f.send(`{"id":3,"x":"` + strings.Repeat("x", 16<<20) + `"}`)
	f.gets(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message has at most 16 MiB"}}`)
	o.say(`{"id":2,"result":1}`)
	f.gets(`{"id":2,"result":1}`)
	o.say(`{"id":1,"result":1}`)
	f.gets(`{"id":1,"result":1}`)
	_ = f.in.Close()
	if err := <-f.done; err != nil {
		t.Error(err)
	}
}

func TestSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40)) // longer than a socket's path may be
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mcp.sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil { // what a killed owner left
		t.Fatal(err)
	}
	l, err := relay.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		relay.Serve(ctx, l, func(h relay.Hello) (relay.Session, error) {
			if h.Namespace == "secret" {
				return nil, errors.New("there is no namespace secret")
			}
			return func(_ context.Context, in io.Reader, out io.Writer) error {
				_, err := fmt.Fprintf(out, "hello %s of %s\n", h.Session, h.Namespace)
				_, _ = io.Copy(io.Discard, in)
				return err
			}, nil
		})
	}()
	_, err = relay.Dial(t.Context(), dir, relay.Hello{Namespace: "secret"})
	var refused *relay.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "there is no namespace secret" {
		t.Errorf("refused: %v", err)
	}
	conn, err := relay.Dial(t.Context(), dir, relay.Hello{Namespace: "default", Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello s1 of default\n" {
		t.Errorf("%q, %v", line, err)
	}
	raw, err := net.Dial("unix", "/proc/self/fd/"+openDir(t, dir)+"/mcp.sock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write([]byte(`{"protocol":2,"namespace":"default"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(raw).ReadString('\n'); !strings.Contains(line, "another version of engramd") {
		t.Errorf("another protocol: %q", line)
	}
	cancel() // ends the sessions, too
	<-served
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("the session goes on")
	}
	_, _ = conn.Close(), raw.Close()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := relay.Dial(t.Context(), dir, relay.Hello{}); err == nil {
		t.Error("somebody answers")
	}
}

func openDir(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return fmt.Sprint(f.Fd())
}

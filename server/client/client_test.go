package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram"
	"engram/server"
	"engram/server/client"
	"engram/server/token"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

// backend is a server of a data directory that may be stopped and started.
type backend struct {
	t      *testing.T
	dir    string
	secret string
	url    string
	stop   func()
}

func start(t *testing.T, dir string) *backend {
	t.Helper()
	r, err := server.OpenRegistry(dir, server.RegistryOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Create("default"); err != nil && !engram.IsCode(err, engram.CodeExists) {
		t.Fatal(err)
	}
	tokens := token.Open(dir, nil)
	secret, err := tokens.Ensure()
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(r, server.Config{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	b := &backend{t: t, dir: dir, secret: secret, url: "http://" + l.Addr().String()}
	stopped := false
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-done, r.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(b.stop)
	return b
}

func (b *backend) client(o client.Options) *client.Client {
	b.t.Helper()
	o.Token = b.secret
	c, err := client.Open(b.url, &o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() }) // the test may have closed it
	return c
}

// TestSameAsEmbedded: statements give the same values, kinds and errors as in an
// embedded database.
func TestSameAsEmbedded(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	c := b.client(client.Options{})
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	when := time.Date(2024, 5, 1, 12, 30, 0, 123, time.UTC)
	for _, s := range []struct {
		text   string
		params map[string]any
	}{
		{"CREATE (a:P {id: 'a', at: $when, on: date('2024-05-01'), n: 1, f: 1.0, list: [1, 2], long: 9007199254740993})-[r:R {id: 'r', w: 0.5}]->(b:Q {id: 'b'}) RETURN a.at, a.on, a.n, a.f, a.long", map[string]any{"when": when}},
		{"MATCH (a)-[r]->(b) RETURN a.id, r.w, b.id, labels(a), properties(a)", nil},
		{"MATCH p = (a)-[r]->(b) RETURN length(p), [n IN nodes(p) | n.id]", nil},
		{"RETURN {a: 1, b: [null, true, duration('P1M2DT3S')]} AS m, time('12:30+01:00'), localtime('12:30'), localdatetime('2024-05-01T12:30'), $v", map[string]any{"v": map[string]any{"x": []any{1, "y", 2.5}}}},
		{"UNWIND [3, 1, 2] AS x RETURN x ORDER BY x", nil},
		{"RETURN toFloat('NaN'), 1e300", nil},
		{"CREATE INDEX FOR (p:P) ON (p.n)", nil},
		{"RETURN nosuch", nil},
		{"CREATE (x {id: 'a'})", nil},
		{"RETURN $missing", nil},
		{"RETURN 1 / 0", nil},
	} {
		here, errHere := db.Query(ctx, s.text, s.params)
		there, errThere := c.Query(ctx, s.text, s.params)
		if (errHere == nil) != (errThere == nil) {
			t.Errorf("%s: here %v, there %v", s.text, errHere, errThere)
			continue
		}
		if errHere != nil {
			var x, y *engram.Error
			if !errors.As(errHere, &x) || !errors.As(errThere, &y) || x.Code != y.Code || x.Message != y.Message || x.Line != y.Line || x.Column != y.Column || x.Hint != y.Hint {
				t.Errorf("%s: here %+v, there %+v", s.text, errHere, errThere)
			}
			continue
		}
		if strings.Join(here.Columns, "|") != strings.Join(there.Columns, "|") || here.Counters != there.Counters || len(here.Rows) != len(there.Rows) {
			t.Errorf("%s: here %v %+v, there %v %+v", s.text, here.Columns, here.Counters, there.Columns, there.Counters)
			continue
		}
		for i := range here.Rows {
			for j, v := range here.Rows[i] {
				if w := there.Rows[i][j]; w.Kind() != v.Kind() || string(w.AppendTyped(nil)) != string(v.AppendTyped(nil)) {
					t.Errorf("%s: here %v, there %v", s.text, v, w)
				}
			}
		}
	}
}

func TestTransactions(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	c := b.client(client.Options{})
	ctx := context.Background()
	count := func() int64 {
		res, err := c.Query(ctx, "MATCH (n:N) RETURN count(n)", nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.Rows[0][0].AsInt()
	}
	boom := errors.New("boom")
	if err := c.Update(ctx, func(tx *client.Tx) error {
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); err != nil {
			return err
		}
		return boom
	}); !errors.Is(err, boom) || count() != 0 {
		t.Errorf("rolled back: %v, %d", err, count())
	}
	if err := c.Update(ctx, func(tx *client.Tx) error { _, err := tx.Query(ctx, "CREATE (:N)", nil); return err }); err != nil || count() != 1 {
		t.Errorf("committed: %v, %d", err, count())
	}
	if err := c.View(ctx, func(tx *client.Tx) error {
		if _, err := c.Query(ctx, "CREATE (:N)", nil); err != nil {
			return err
		}
		res, err := tx.Query(ctx, "MATCH (n:N) RETURN count(n)", nil)
		if err == nil && res.Rows[0][0].AsInt() != 1 {
			t.Errorf("another moment: %v", res.Rows)
		}
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("writing in a reading transaction: %v", err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	for i, want := range []bool{false, true} {
		if _, repeated, err := c.QueryOnce(ctx, "key", "CREATE (:N)", nil); err != nil || repeated != want {
			t.Errorf("time %d: %v, %v", i, repeated, err)
		}
	}
	s := client.NewSession(c)
	for _, text := range []string{"BEGIN", "CREATE (:N)", "ROLLBACK"} {
		if _, err := s.Query(ctx, text, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n := count(); n != 3 {
		t.Errorf("%d nodes", n)
	}
}

func TestRefusals(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	for _, address := range []string{"", "127.0.0.1:1", "ftp://x", "http://", "http://a:b@c", "http://x/path", "http://x?y"} {
		if _, err := client.Open(address, nil); !engram.IsCode(err, engram.CodeInvalidArgument) {
			t.Errorf("%q: %v", address, err)
		}
	}
	ctx := context.Background()
	wrong, err := client.Open(b.url, &client.Options{Token: "engram_wrong"})
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	if _, err := wrong.Query(ctx, "RETURN 1", nil); !engram.IsCode(err, client.CodeUnauthenticated) {
		t.Errorf("a wrong token: %v", err)
	}
	var seen atomic.Int32
	elsewhere := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			seen.Add(1)
		}
		http.Redirect(w, r, b.url+r.URL.Path, http.StatusTemporaryRedirect)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = elsewhere.Serve(l) }() // ends by Close
	defer elsewhere.Close()
	moved, err := client.Open("http://"+l.Addr().String(), &client.Options{Token: "engram_secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if _, err := moved.Query(ctx, "RETURN 1", nil); !engram.IsCode(err, client.CodeUnreachable) || seen.Load() != 1 {
		t.Errorf("a redirection: %v, %d requests", err, seen.Load())
	}
}

// TestSpool: what was not acknowledged is sent again, also by a later process, and is
// there once, whether the server had done it or not.
func TestSpool(t *testing.T) {
	dir, spool := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "spool")
	b := start(t, dir)
	// A proxy that loses every second answer to a write, behind the server.
	target, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int32
	var lose atomic.Bool
	lose.Store(true)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = target.Host },
		ModifyResponse: func(r *http.Response) error {
			if lose.Load() && n.Add(1)%2 == 0 {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	}
	front := http.Server{Handler: proxy}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = front.Serve(l) }() // ends by Close
	defer front.Close()
	open := func() *client.Client {
		c, err := client.Open("http://"+l.Addr().String(), &client.Options{Token: b.secret, Spool: spool, Transport: &http.Transport{DisableKeepAlives: true}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	if _, err := client.Open(b.url, &client.Options{Spool: spool}); !engram.IsCode(err, engram.CodeBusy) {
		t.Errorf("a spool for two: %v", err)
	}
	ctx := context.Background()
	queued := 0
	for i := range 40 {
		_, err := c.Store(ctx, "CREATE (:M {id: $id, at: $at})", map[string]any{"id": i, "at": time.Unix(int64(i), 0)})
		switch {
		case engram.IsCode(err, client.CodeQueued) && strings.Contains(err.Error(), "write_not_persisted, queued"):
			queued++
		case err != nil:
			t.Fatal(err)
		}
		if i == 20 {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c = open() // another process
		}
	}
	if queued < 10 {
		t.Errorf("only %d of 40 were queued", queued)
	}
	lose.Store(false)
	if _, err := c.Drain(ctx); err != nil || c.Waiting() != 0 {
		t.Errorf("drained: %v, %d wait", err, c.Waiting())
	}
	res, err := c.Query(ctx, "MATCH (m:M) RETURN count(m), count(DISTINCT m.id), min(m.at)", nil)
	if err != nil || res.Rows[0][0].AsInt() != 40 || res.Rows[0][1].AsInt() != 40 || res.Rows[0][2].Kind() != engram.KindDateTime {
		t.Errorf("%v, %v", res, err)
	}
	b.stop()
	for i := range 3 {
		statement := "CREATE (:M {id: $id})"
		if i == 1 {
			statement = "CREATE (:M {id: $id" // the server will refuse it
		}
		if _, err := c.Store(ctx, statement, map[string]any{"id": 100 + i}); !engram.IsCode(err, client.CodeQueued) {
			t.Errorf("while the server is down: %v", err)
		}
	}
	files, err := os.ReadDir(spool)
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, dir)
	d := again.client(client.Options{Spool: spool})
	if d.Waiting() != 3 {
		t.Errorf("%d wait, want 3", d.Waiting())
	}
	if sent, err := d.Drain(ctx); sent != 2 || !engram.IsCode(err, engram.CodeSyntaxError) {
		t.Errorf("sent %d, %v", sent, err)
	}
	if res, err := d.Query(ctx, "MATCH (m:M) RETURN count(m)", nil); err != nil || res.Rows[0][0].AsInt() != 42 || d.Waiting() != 0 {
		t.Errorf("%v, %v, %d wait", res, err, d.Waiting())
	}
}

// TestRead: a statement that is read cannot write, whatever it looks like, by a token
// that may write.
func TestRead(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	c, err := client.Open(b.url, &client.Options{Token: b.secret})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := context.Background()
	if _, err := c.Query(ctx, "CREATE (:N {id: 'a', at: date('2024-05-01')})", nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"CREATE (:N)", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.x = 1 RETURN n", "PROFILE CREATE (:N)"} {
		if _, err := c.Read(ctx, text, nil); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("%s: %v", text, err)
		}
	}
	res, err := c.Read(ctx, "MATCH (n:N) WHERE n.id = $id RETURN n.at, count(*)", map[string]any{"id": "a"})
	if err != nil || len(res.Rows) != 1 || res.Rows[0][0].String() != "'2024-05-01'" || res.Rows[0][1].String() != "1" {
		t.Errorf("%+v, error %v", res, err)
	}
}

// Under the race detector a process takes several times the memory.

//go:build linux && !race

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// loaded is a daemon under load, a process of its own, so that its memory is told apart
// from what the test uses.
type loaded struct {
	t       *testing.T
	address string // host:port
	token   string
	pid     int
}

func startLoaded(t *testing.T, flags ...string) *loaded {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	url, cmd, kill := startCommand(t, dir, nil, flags...)
	t.Cleanup(kill)
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	d := &loaded{t: t, address: strings.TrimPrefix(url, "http://"), token: strings.TrimSpace(string(secret)), pid: cmd.Process.Pid}
	d.query("", "CREATE (:Memory {id: 'warm', content: 'a ferry leaves at seven'})")
	d.post("/v1/recall", `{"query":"ferry"}`)
	return d
}

// request sends one; body nil: GET.
func (d *loaded) request(path string, body io.Reader, length int64) (status int, answer []byte) {
	d.t.Helper()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, "http://"+d.address+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = length
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil // cut off while it was still sending
	}
	defer res.Body.Close()
	answer, _ = io.ReadAll(res.Body) // what was cut is told by the status
	return res.StatusCode, answer
}

func (d *loaded) post(path, body string) []byte {
	d.t.Helper()
	status, answer := d.request(path, strings.NewReader(body), int64(len(body)))
	if status != http.StatusOK {
		d.t.Fatalf("POST %s: %d %s", path, status, answer)
	}
	return answer
}

func (d *loaded) query(namespace, statement string) []byte {
	d.t.Helper()
	body, err := json.Marshal(map[string]string{"statement": statement})
	if err != nil {
		d.t.Fatal(err)
	}
	if namespace != "" {
		namespace = "?namespace=" + namespace
	}
	return d.post("/v1/query"+namespace, string(body))
}

// metric is one of /metrics.
func (d *loaded) metric(name string) float64 {
	d.t.Helper()
	_, page := d.request("/metrics", nil, 0)
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				d.t.Fatal(err)
			}
			return v
		}
	}
	d.t.Fatalf("there is no metric %s", name)
	return 0
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

func (d *loaded) resident() float64 { return d.metric("process_resident_memory_bytes") }

func (d *loaded) inUse() float64 {
	return d.metric("go_memstats_heap_inuse_bytes") + d.metric("go_memstats_stack_inuse_bytes")
}

// peak is the most that was ever resident, in bytes.
func (d *loaded) peak() float64 { return d.status("VmHWM:") }

// anonymous is what is resident and no file's, in bytes.
func (d *loaded) anonymous() float64 { return d.status("RssAnon:") }

func (d *loaded) status(field string) float64 {
	d.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.pid))
	if err != nil {
		d.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), field)
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		d.t.Fatal(err)
	}
	return n * kib
}

// TestIdleSockets: an idle websocket costs at most 64 KiB, of the heap and resident.
func TestIdleSockets(t *testing.T) {
	n := 400
	if os.Getenv("ENGRAM_LONG") != "" {
		n = 2000
	}
	d := startLoaded(t)
	resident, inUse := d.resident(), d.inUse()
	dialer := websocket.Dialer{ReadBufferSize: kib, WriteBufferSize: kib}
	for i := range n {
		conn, _, err := dialer.Dial("ws://"+d.address+"/v1/ws", http.Header{"Authorization": {"Bearer " + d.token}})
		if err != nil {
			t.Fatalf("websocket %d: %v", i, err)
		}
		defer conn.Close()
		if err := conn.WriteJSON(map[string]string{"id": "1", "type": "cancel"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
	if open := d.metric("engram_websockets_open"); open != float64(n) {
		t.Errorf("%v websockets are open, want %d", open, n)
	}
	for what, bytes := range map[string]float64{"resident": d.resident() - resident, "heap": d.inUse() - inUse} {
		each := bytes / float64(n) / kib
		t.Logf("%d websockets: %.1f KiB each %s", n, each, what)
		if each > 64 || each < 1 {
			t.Errorf("%.1f KiB each %s, want at most 64", each, what)
		}
	}
}

// TestMemoryStaysFlat sends what would fill memory if it was taken: it is refused, and
// the most that is ever resident hardly grows.
func TestMemoryStaysFlat(t *testing.T) {
	d := startLoaded(t)
	keys := bytes.NewBufferString(`{"parameters":{"a":1`)
	for i := range 1_000_000 {
		fmt.Fprintf(keys, `,"k%d":1`, i)
	}
	keys.WriteString(`}}`)
	before := d.peak()
	grown := func(what string) {
		t.Helper()
		peak := d.peak() - before
		t.Logf("after %s: %.1f MiB more than at first at the most", what, peak/mib)
		if peak > 160*mib {
			t.Errorf("after %s: %.1f MiB more than at first at the most", what, peak/mib)
		}
	}
	for _, c := range []struct {
		name   string
		body   io.Reader
		length int64
		status int
		code   string
	}{
		{"a declared body of 1 GB", &endless{left: 1 << 30}, 1 << 30, 413, "BodyTooLarge"},
		{"a body of 1 GB in chunks", &endless{left: 1 << 30}, -1, 413, "BodyTooLarge"},
		{"lists 1,000,000 deep", strings.NewReader(`{"parameters":` + strings.Repeat("[", 1_000_000)), -1, 400, "TooComplex"},
		{"1,000,000 keys", keys, int64(keys.Len()), 400, "TooComplex"},
	} {
		// A client that still sends when it is refused may not see the answer.
		status, answer := d.request("/v1/query", c.body, c.length)
		if cut := status == 0 && c.status == http.StatusRequestEntityTooLarge; !cut && (status != c.status || !strings.Contains(string(answer), c.code)) {
			t.Errorf("%s: %d %.200s", c.name, status, answer)
		}
		grown(c.name)
	}
	d.fragments()
	grown("200 MB of a websocket message in fragments")
	for _, conn := range d.halves(200) {
		defer conn.Close()
	}
	grown("200 half requests")
	for _, conn := range d.deaf(24) {
		defer conn.Close()
	}
	grown("24 clients that do not read 12 MB of lines each")
	if got := d.post("/v1/recall", `{"query":"ferry"}`); !strings.Contains(string(got), `"id":"warm"`) {
		t.Errorf("others: %s", got)
	}
	grown("all of it")
}

// endless is a body of JSON that goes on.
type endless struct{ left int64 }

// Read fills p with letters of a string.
func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	if e.left == 1<<30 {
		copy(p, `{"statement":"`)
	}
	e.left -= n
	return int(n), nil
}

// fragments sends one message in fragments until it is refused.
func (d *loaded) fragments() {
	d.t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+d.address+"/v1/ws", http.Header{"Authorization": {"Bearer " + d.token}})
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	w, err := conn.NextWriter(websocket.TextMessage)
	if err != nil {
		d.t.Fatal(err)
	}
	piece := bytes.Repeat([]byte("a"), 64*kib)
	for range 3200 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
	d.t.Error("200 MB in one message were taken")
}

// head begins a request.
func (d *loaded) head(more string) string {
	return "POST /v1/query HTTP/1.1\r\nHost: " + d.address + "\r\nAuthorization: Bearer " + d.token + "\r\nContent-Type: application/json\r\n" + more
}

// send opens a connection and sends on it.
func (d *loaded) send(text string) net.Conn {
	d.t.Helper()
	conn, err := net.Dial("tcp", d.address)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		d.t.Fatal(err)
	}
	return conn
}

// halves are requests of which half a head or half a body came.
func (d *loaded) halves(n int) (open []net.Conn) {
	for i := range n {
		text := d.head("X-More: " + strings.Repeat("x", 8000))
		if i%2 == 0 {
			text = d.head("Content-Length: 16000000\r\n\r\n") + `{"statement":"` + strings.Repeat("a", 32*kib)
		}
		open = append(open, d.send(text))
	}
	return open
}

// deaf are clients that ask for many lines and read the first piece only.
func (d *loaded) deaf(n int) (open []net.Conn) {
	body := `{"statement":"UNWIND range(1, 200000) AS x RETURN x, 'a text that takes some room in each of the lines'"}`
	for range n {
		conn := d.send(d.head(fmt.Sprintf("Accept: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", len(body), body)))
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			d.t.Fatal(err)
		}
		if line, err := bufio.NewReaderSize(conn, 64).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			d.t.Fatalf("%q, %v", line, err)
		}
		open = append(open, conn)
	}
	return open
}

// TestManyNamespaces uses many more namespaces than are loaded at a time: memory stays
// about what those take that are loaded, and none loses anything.
func TestManyNamespaces(t *testing.T) {
	n, kept := 60, 8
	if os.Getenv("ENGRAM_LONG") != "" {
		n, kept = 1000, 50
	}
	d := startLoaded(t, "--loaded", strconv.Itoa(kept))
	name := func(i int) string { return fmt.Sprintf("n%d", i) }
	atFirst := 0.0
	for i := range n {
		d.post("/v1/namespaces", `{"name":"`+name(i)+`"}`)
		d.query(name(i), fmt.Sprintf("UNWIND range(1, 50) AS x CREATE (:Memory {id: 'm' + toString(x), content: 'ferry ' + toString(x) + ' of namespace %d'})", i))
		d.post("/v1/recall?namespace="+name(i), `{"query":"ferry"}`)
		if i == kept+kept/2 {
			atFirst = d.peak()
		}
		if loaded := d.metric("engram_namespaces_loaded"); loaded > float64(kept) {
			t.Fatalf("%v namespaces are loaded, %d may be", loaded, kept)
		}
	}
	peak := d.peak()
	t.Logf("%d namespaces, %d loaded: %.1f MiB resident at the most, %.1f when there were %d; now %.1f", n, kept, peak/mib, atFirst/mib, kept+kept/2, d.resident()/mib)
	if peak > 1.5*atFirst+32*mib {
		t.Errorf("%.1f MiB were resident with %d namespaces, %.1f with %d", peak/mib, n, atFirst/mib, kept+kept/2)
	}
	for i := 0; i < n; i += n / 20 {
		want := fmt.Sprintf(`"rows":[[50,"ferry 9 of namespace %d"]]`, i)
		if got := d.query(name(i), "MATCH (m:Memory) RETURN count(m), max(m.content)"); !strings.Contains(string(got), want) {
			t.Errorf("namespace %d: %s, want %s", i, got, want)
		}
	}
}

// TestMemoryBound: with a bound of memory and none of the number of namespaces, so many
// stay loaded as fit.
func TestMemoryBound(t *testing.T) {
	n, bound := 80, 24
	if os.Getenv("ENGRAM_LONG") != "" {
		n, bound = 1000, 96
	}
	d := startLoaded(t, "--loaded", "100000", "--memory", strconv.Itoa(bound))
	most, loadedMost := 0.0, 0.0
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		d.post("/v1/namespaces", `{"name":"`+name+`"}`)
		d.query(name, "UNWIND range(1, 50) AS x CREATE (:Memory {id: 'm' + toString(x), content: 'ferry ' + toString(x)})")
		d.post("/v1/recall?namespace="+name, `{"query":"ferry"}`)
		most, loadedMost = max(most, d.anonymous()), max(loadedMost, d.metric("engram_namespaces_loaded"))
	}
	t.Logf("%d namespaces in at most %d MiB: %.1f MiB without files at the most, %.0f loaded at the most, %.0f now", n, bound, most/mib, loadedMost, d.metric("engram_namespaces_loaded"))
	if most > float64(bound+24)*mib { // it is looked at every second
		t.Errorf("%.1f MiB are held, %d may be", most/mib, bound)
	}
	if loadedMost > float64(n)*3/4 {
		t.Errorf("%.0f of %d namespaces were loaded at a time: none was closed for the bound", loadedMost, n)
	}
	if got := d.query("n0", "MATCH (m:Memory) RETURN count(m)"); !strings.Contains(string(got), `"rows":[[50]]`) {
		t.Errorf("the first namespace: %s", got)
	}
}

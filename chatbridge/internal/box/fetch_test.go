package box_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"engram/chatbridge/internal/box"

	"golang.org/x/net/dns/dnsmessage"
)

// insideServer is a server that only this machine reaches; hits counts who did.
func insideServer(t *testing.T) (url, port string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hits.Add(1); fmt.Fprint(w, "INSIDE") }))
	t.Cleanup(s.Close)
	return s.URL, s.URL[strings.LastIndex(s.URL, ":"):], hits
}

// front is a server that stands for one of the public network, and a fetcher that reaches it.
func front(t *testing.T, h http.HandlerFunc) (url string, f *box.Fetcher) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, &box.Fetcher{Allow: []string{s.Listener.Addr().String()}}
}

// refusesAddress holds that an address is not fetched.
func refusesAddress(t *testing.T, f *box.Fetcher, address string) {
	t.Helper()
	if text, err := f.Fetch(t.Context(), address); err == nil {
		t.Errorf("%s gave %q", address, text)
	}
}

// TestS60InsideAddresses holds that nothing inside is reached, in whatever way its address
// is written, the port of this program's own server among them.
func TestS60InsideAddresses(t *testing.T) {
	own, port, hits := insideServer(t)
	url, f := front(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/image" {
			w.Header().Set("Content-Type", "image/png")
		}
		fmt.Fprint(w, "a page")
	})
	if text, err := f.Fetch(t.Context(), url+"/page"); err != nil || text != "a page" {
		t.Errorf("the control: %q, error %v", text, err)
	}
	for _, address := range []string{
		own, "http://127.0.0.1" + port, "http://127.1.2.3" + port, "http://localhost" + port, "http://LOCALHOST" + port, "http://localhost." + port, "http://[::1]" + port, "http://[::]" + port,
		"http://[::ffff:127.0.0.1]" + port, "http://[::ffff:7f00:1]" + port, "http://[0:0:0:0:0:ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://0" + port, "http://2130706433" + port, "http://0x7f000001" + port,
		"http://0x7f.1" + port, "http://0177.0.0.1" + port, "http://127.1" + port, "http://127.0.0.1." + port, "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[fd00::1]/", "http://10.0.0.1/", "http://172.16.0.1/",
		"http://192.168.0.1/", "http://100.64.0.1/", "http://[64:ff9b::7f00:1]" + port, "http://[2002:7f00:1::]" + port, "http://u:p@127.0.0.1" + port, "http://example.com@127.0.0.1" + port,
		"file:///etc/passwd", "gopher://127.0.0.1" + port, "ftp://127.0.0.1/", "data:text/plain,x", "javascript:1", "unix:///run/docker.sock", "//127.0.0.1" + port, "", "localhost", "127.0.0.1" + port, url + "/image",
	} {
		refusesAddress(t, f, address)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests came inside", n)
	}
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "::1": false, "::ffff:10.1.2.3": false, "fe80::1": false, "64:ff9b::7f00:1": false, "100.64.0.1": false, "255.255.255.255": false, "fe80::1%eth0": false,
	} {
		if got := box.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// names is a name server of this machine, whose answers follow one another.
func names(t *testing.T, answers map[string][]string) *net.Resolver {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	var mu sync.Mutex
	go func() {
		defer close(done)
		for b := make([]byte, 1500); ; {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				mu.Lock()
				if next := answers[q.Name.String()]; len(next) > 0 {
					answers[q.Name.String()] = append(next[1:], next[len(next)-1])
					m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: netip.MustParseAddr(next[0]).As4()}}}
				}
				mu.Unlock()
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = c.WriteTo(packed, from) // whoever asks asks again
			}
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

// TestS61SecondLookup holds that an address is checked each time that one is dialled: a name
// that leads inside the second time, and redirects to another address, name or scheme.
func TestS61SecondLookup(t *testing.T) {
	own, port, hits := insideServer(t)
	var self string
	url, f := front(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := strings.TrimPrefix(r.URL.RequestURI(), "/to/"); {
		case r.URL.Path == "/page":
			fmt.Fprint(w, "a page")
		case r.URL.Path == "/again":
			http.Redirect(w, r, "http://rebinds.test"+port+"/", http.StatusFound)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	})
	self = strings.TrimPrefix(url, "http://127.0.0.1")
	f.Resolver = names(t, map[string][]string{"rebinds.test.": {"127.0.0.1", "127.0.0.1"}, "changes.test.": {"127.0.0.1", "127.0.0.2"}, "inside.test.": {"10.0.0.1"}})
	if text, err := f.Fetch(t.Context(), "http://changes.test"+self+"/page"); err != nil || text != "a page" {
		t.Errorf("the first lookup: %q, error %v", text, err)
	}
	refusesAddress(t, f, "http://changes.test"+self+"/page") // the second one leads elsewhere
	for _, address := range []string{
		"http://rebinds.test" + self + "/again", "http://rebinds.test" + port, "http://inside.test/", url + "/to/" + own, url + "/to/http://localhost" + port, url + "/to/http://2130706433" + port, url + "/to/file:///etc/passwd",
		url + "/to/gopher://127.0.0.1" + port, url + "/to/" + url + "/to/" + own, url + "/loop",
	} {
		refusesAddress(t, f, address)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests came inside", n)
	}
}

// TestS37AddressesOfServers holds that what a server gives as an address is http or https, or
// nothing. There is nothing here that opens one in another program: see TestS37NoOpeners.
func TestS37AddressesOfServers(t *testing.T) {
	for _, address := range []string{
		"file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "vscode://x/y", "ms-settings:", "calc.exe", "-oProxyCommand=x", "http:", "https://", "http:///x", "HTTP+UNIX://x/", "smb://h/x", "$(touch made)", "http://h/ x\n-y",
	} {
		if u, err := box.CheckURL(address); err == nil {
			t.Errorf("%q is taken as %s", address, u)
		}
	}
	for _, address := range []string{"http://h/x?y=$(z)&a=;b", "HTTPS://h/"} {
		if _, err := box.CheckURL(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

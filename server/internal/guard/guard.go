// Package guard keeps requests out that a browser was tricked into: by the Host, the
// Origin, and what browsers tell about where a request comes from.
package guard

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Rules say which requests are let in. The zero value lets in those that name this
// machine and the port they arrived at.
type Rules struct {
	// Hosts are names, with a port or for any, beside those of this machine.
	Hosts []string
	// Origins are origins, such as https://notes.example, whose pages may send
	// requests.
	Origins []string
}

// What is refused.
var (
	ErrHost   = errors.New("the Host of the request is not one of this server's names")
	ErrOrigin = errors.New("requests of other web pages are refused")
)

// local are the names of this machine. 0.0.0.0 is none.
var local = []string{"localhost", "127.0.0.1", "::1"}

// Check refuses a request by its Host, its Origin and its Sec-Fetch-Site.
func (r Rules) Check(req *http.Request) error {
	if !r.hostAllowed(req) {
		return ErrHost
	}
	origins := req.Header.Values("Origin")
	if len(origins) > 1 {
		return ErrOrigin
	}
	if len(origins) == 1 && !r.OriginAllowed(origins[0]) && !sameOrigin(req, origins[0]) {
		return ErrOrigin
	}
	switch req.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if len(origins) == 1 && r.OriginAllowed(origins[0]) {
		return nil
	}
	return ErrOrigin
}

// OriginAllowed reports whether an origin is among those that were configured.
func (r Rules) OriginAllowed(origin string) bool { return slices.Contains(r.Origins, origin) }

// hostAllowed compares the Host with this machine's names, at the port that the
// connection came in at, and with those that were configured.
func (r Rules) hostAllowed(req *http.Request) bool {
	if slices.Contains(r.Hosts, req.Host) {
		return true
	}
	host, port := split(req.Host)
	if slices.Contains(r.Hosts, host) && port == "" {
		return true
	}
	own := ownPort(req)
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[req.TLS != nil]
		if own == "" { // a Unix socket has no port
			port = ""
		}
	}
	if port != own {
		return false
	}
	if slices.Contains(local, host) {
		return true
	}
	return slices.Contains(r.Hosts, host)
}

// split cuts a Host into name and port; brackets of an IPv6 address are taken off.
func split(hostport string) (host, port string) {
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		return strings.ToLower(h), p
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")), ""
}

// ownPort is the port that a connection came in at; empty for a Unix socket.
func ownPort(req *http.Request) string {
	if addr, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && addr.Network() != "unix" {
		_, port := split(addr.String())
		return port
	}
	return ""
}

// sameOrigin reports whether an origin is that of the request itself.
func sameOrigin(req *http.Request, origin string) bool {
	scheme := "http"
	if req.TLS != nil {
		scheme = "https"
	}
	return strings.EqualFold(origin, scheme+"://"+req.Host)
}

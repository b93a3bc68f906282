package box

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const maxPage = 1 << 20

// Fetcher fetches pages of public hosts: every address is checked when it is dialled,
// so that neither names nor redirects lead inside.
type Fetcher struct {
	// Allow lists addresses (host:port as dialled, such as 127.0.0.1:8080) that may be
	// fetched although they are not public.
	Allow []string
	// Timeout of one fetch; 0: 30 s.
	Timeout time.Duration
	// Resolver of names; nil: the system's.
	Resolver *net.Resolver
}

var inside = func() []netip.Prefix {
	var out []netip.Prefix
	for _, p := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/127", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "ff00::/8",
	} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}()

// Public tells whether an address is one of the public network.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range inside {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}

// CheckURL refuses what is no address of a page.
func CheckURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("%q is no address: want http://host/path or https://host/path", Visible(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("addresses of %s are not fetched, only http and https", u.Scheme)
	case oddNumber(u.Hostname()):
		return nil, fmt.Errorf("%q is an address written as no one writes one, and is not fetched", Visible(u.Hostname()))
	case u.User != nil:
		return nil, errors.New("addresses with a user or a password in them are not fetched")
	}
	return u, nil
}

// oddNumber tells whether a host is an IPv4 address in a form that only some
// programs read as one, such as 2130706433 or 0x7f.1.
func oddNumber(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndex(host, ".")+1:]
	return last == "" || last[0] >= '0' && last[0] <= '9'
}

type insideError struct{ address string }

func (e *insideError) Error() string {
	return e.address + " is not on the public network, and is not fetched"
}

// Fetch fetches a page of text.
func (f *Fetcher) Fetch(ctx context.Context, address string) (string, error) {
	u, err := CheckURL(address)
	if err != nil {
		return "", err
	}
	limit := f.Timeout
	if limit <= 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dialer := &net.Dialer{Resolver: f.Resolver, Control: func(_, where string, _ syscall.RawConn) error {
		for _, a := range f.Allow {
			if a == where {
				return nil
			}
		}
		to, err := netip.ParseAddrPort(where)
		if err != nil || !Public(to.Addr()) {
			return &insideError{where}
		}
		return nil
	}}
	client := &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 5 {
				return errors.New("it redirects more than five times")
			}
			_, err := CheckURL(req.URL.String())
			return err
		},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("%q is no address", Visible(address))
	}
	req.Header.Set("User-Agent", "engram")
	res, err := client.Do(req)
	if err != nil {
		return "", fetchError(u.Host, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err != nil {
		return "", fetchError(u.Host, err)
	}
	if res.StatusCode >= 300 {
		return "", fmt.Errorf("%s answered HTTP %d", u.Host, res.StatusCode)
	}
	kind := res.Header.Get("Content-Type")
	if !strings.HasPrefix(kind, "text/") && !strings.Contains(kind, "json") && !strings.Contains(kind, "xml") && kind != "" {
		return "", fmt.Errorf("%s answered %s, which is no text", u.Host, Visible(kind))
	}
	page := strings.ToValidUTF8(string(text[:min(len(text), maxPage)]), "?")
	if len(text) > maxPage {
		page += fmt.Sprintf("\n[cut here: the page has more than %d bytes]", maxPage)
	}
	return page, nil
}

func fetchError(host string, err error) error {
	var in *insideError
	var u *url.Error
	switch {
	case errors.As(err, &in):
		return in
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer in time", host)
	case errors.As(err, &u):
		return fmt.Errorf("%s cannot be fetched: %w", host, u.Err)
	}
	return fmt.Errorf("%s cannot be fetched: %w", host, err)
}

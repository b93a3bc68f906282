package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Probed is what a provider said without being told a key.
type Probed struct {
	// Status of HTTP.
	Status int
	// Models that it lists, in its order; nil where it lists none without a key.
	Models []string
	// More: it lists more than are here.
	More bool
}

const (
	maxModels = 1000
	maxList   = 4 << 20
)

// Probe asks an address for its models. No key is sent, and no redirect is followed:
// whoever listens there is told nothing.
func Probe(ctx context.Context, wire, base string) (*Probed, error) {
	u, err := baseURL(wire, base)
	if err != nil {
		return nil, err
	}
	path := "models"
	if wire == Anthropic {
		path = "v1/models"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String()+path, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, err
	}
	defer res.Body.Close()
	out := &Probed{Status: res.StatusCode}
	if res.StatusCode != http.StatusOK {
		return out, nil
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&list) != nil {
		return out, nil
	}
	for _, m := range list.Data {
		if len(out.Models) == maxModels {
			out.More = true
			break
		}
		if strings.TrimSpace(m.ID) != "" {
			out.Models = append(out.Models, m.ID)
		}
	}
	return out, nil
}

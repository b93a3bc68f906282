// Package remotetool uses the tools of MCP servers: programs that are started, or
// addresses. What a server says is data; what it may offer is listed by name.
package remotetool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"engram/chatbridge/internal/box"
)

// Server is one configured server.
type Server struct {
	Name string `json:"-"` // small letters, digits and -, 1 to 24
	// Command is a program and its arguments, run without a shell; or URL is an address
	// that speaks streamable HTTP.
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	// Env is what a program has in its environment beside PATH, HOME, LANG and TMPDIR.
	Env map[string]string `json:"env,omitempty"`
	// Tools are the names of those that may be used, at least one.
	Tools []string `json:"tools"`
}

var serverName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,23}$`)

const maxServers = 32

// Parse reads servers from a JSON object, name → server, strictly. They come in the
// order of their names.
func Parse(text []byte) ([]Server, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var named map[string]Server
	if err := d.Decode(&named); err != nil || d.More() {
		return nil, errors.New(`the MCP servers are no JSON object such as {"notes": {"command": ["notes-mcp"], "tools": ["search"]}, "wiki": {"url": "https://host/mcp", "tools": ["find"]}}`)
	}
	if len(named) > maxServers {
		return nil, fmt.Errorf("%d MCP servers: there may be %d", len(named), maxServers)
	}
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Server
	for _, name := range names {
		s := named[name]
		s.Name = name
		if err := s.Check(); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Check refuses what is no server.
func (s Server) Check() error {
	name := box.Visible(s.Name)
	switch {
	case !serverName.MatchString(s.Name):
		return fmt.Errorf("the MCP server %q: a name has small letters, digits and -, at most 24", name)
	case (len(s.Command) > 0) == (s.URL != ""):
		return fmt.Errorf("the MCP server %s: give a command or a url", name)
	case len(s.Tools) == 0 || slices.Contains(s.Tools, ""):
		return fmt.Errorf("the MCP server %s: list the tools that may be used; without a list none is", name)
	case s.URL != "" && len(s.Env) > 0:
		return fmt.Errorf("the MCP server %s: an address has no environment", name)
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the MCP server %s: the url is no http or https address without a user in it", name)
		}
		return nil
	}
	if err := box.CheckCommand(s.Command); err != nil {
		return fmt.Errorf("the MCP server %s: %w", name, err)
	}
	for k := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			return fmt.Errorf("the MCP server %s: %q is no name of a variable", name, box.Visible(k))
		}
	}
	return nil
}

// Where tells where a server is, for people. Values of the environment are not told.
func (s Server) Where() string {
	if s.URL != "" {
		return box.Visible(s.URL)
	}
	parts := make([]string, len(s.Command))
	for i, a := range s.Command {
		if parts[i] = box.Visible(a); a == "" || strings.ContainsAny(a, " \t\n\"'") {
			parts[i] = fmt.Sprintf("%q", parts[i])
		}
	}
	return strings.Join(parts, " ")
}

// Hash is of all that is configured of a server.
func (s Server) Hash() string {
	text, err := json.Marshal(s) // keys in order; texts can be encoded
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(s.Name+"\x00"), text...))
	return hex.EncodeToString(sum[:])
}

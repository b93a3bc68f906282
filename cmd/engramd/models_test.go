package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// provider is a host that lists models, and keeps what it was sent.
type fakeProvider struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

func newProvider(t *testing.T, answer http.HandlerFunc) *fakeProvider {
	t.Helper()
	p := &fakeProvider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.sent = append(p.sent, r.Method+" "+r.URL.RequestURI()+" "+fmt.Sprint(r.Header))
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProvider) got() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, "\n")
}

func engramdRun(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errOut); code != want {
		t.Fatalf("engramd %s: exit %d, %s", strings.Join(args, " "), code, errOut.String())
	}
	return out.String() + errOut.String()
}

// TestModels holds what the chain shows: where each value comes from, who can be reached,
// what is listed.
func TestModels(t *testing.T) {
	lists := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": "small"}, {"id": "big\u202e"}]}`)
	})
	closed := httptest.NewServer(nil)
	closed.Close()
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"provider": "mine,down", "base-url": "`+lists.URL+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENGRAM_LLM_MODEL", "small")
	t.Setenv("ENGRAM_LLM_DOWN_BASE_URL", closed.URL)
	t.Setenv("ENGRAM_LLM_DOWN_MODEL", "m")
	t.Setenv("ENGRAM_LLM_KEY", "CANARY-KEY")
	out := engramdRun(t, 0, "--config", config, "models")
	for _, want := range []string{
		"1. mine\n   base-url  " + lists.URL + " (flag or configuration file)\n   wire      openai (default)\n   model     small (environment)\n",
		"   is reachable\n   * small\n     big\\u{202e}\n2. down\n", "   model     m (environment)\n   cannot be reached: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	var listed struct {
		Providers []struct {
			Name      string
			Reachable bool
			Models    []string
			BaseURL   string `json:"base_url"`
		}
	}
	text := engramdRun(t, 0, "--config", config, "models", "--json")
	if err := json.Unmarshal([]byte(text), &listed); err != nil || len(listed.Providers) != 2 || !listed.Providers[0].Reachable || len(listed.Providers[0].Models) != 2 || listed.Providers[1].Reachable || listed.Providers[1].BaseURL != closed.URL {
		t.Errorf("%s, error %v", text, err)
	}
	if strings.Contains(out+text, "CANARY") {
		t.Errorf("the key is printed: %s", out)
	}
}

// TestS64NoTokenInProbes holds that asking for models carries no key, also where it is for
// that address, and that no redirect takes the question elsewhere.
func TestS64NoTokenInProbes(t *testing.T) {
	elsewhere := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data": [{"id": "evil"}]}`) })
	asks := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" && r.Header.Get("X-Api-Key") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+elsewhere.URL+`"`)
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data": [{"id": "secret"}]}`)
	})
	moved := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	for _, name := range []string{"A", "B"} {
		t.Setenv("ENGRAM_LLM_"+name+"_KEY", "CANARY-KEY")
		t.Setenv("ENGRAM_LLM_"+name+"_MODEL", "m")
	}
	t.Setenv("ENGRAM_LLM_A_BASE_URL", asks.URL)
	t.Setenv("ENGRAM_LLM_A_WIRE", "anthropic")
	t.Setenv("ENGRAM_LLM_B_BASE_URL", moved.URL)
	out := engramdRun(t, 0, "models", "--provider", "a,b")
	if !strings.Contains(out, "is reachable: it lists its models only with a key, which is not sent to ask") || !strings.Contains(out, "is reachable: it redirects, which is not followed") {
		t.Errorf("shown is\n%s", out)
	}
	if got := asks.got() + moved.got(); strings.Contains(got, "CANARY") || !strings.Contains(got, "GET /v1/models") {
		t.Errorf("sent was\n%s", got)
	}
	if got := elsewhere.got(); got != "" {
		t.Errorf("elsewhere was asked: %s", got)
	}
}

// TestMCPServersOfTheConfiguration holds that servers stand in the file as JSON, that they
// are announced, and that an empty list of tools is refused.
func TestMCPServersOfTheConfiguration(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	config := filepath.Join(t.TempDir(), "config.json")
	write := func(servers string) {
		t.Helper()
		text := `{"provider": "x", "model": "m", "base-url": "` + gone.URL + `", "mcp-servers": ` + servers + `}`
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"notes": {"command": ["notes-mcp"], "tools": []}}`)
	if out := engramdRun(t, exitUsage, "--config", config, "models"); !strings.Contains(out, "the MCP server notes: list the tools that may be used") {
		t.Errorf("an empty list: %s", out)
	}
	write(`{"notes": {"command": ["notes-mcp", "a b"], "env": {"K": "CANARY-KEY"}, "tools": ["find"]}}`)
	out := engramdRun(t, 1, "--config", config, "--data", t.TempDir(), "chat", "hello")
	for _, want := range []string{`[MCP server notes: notes-mcp "a b", tools: find]`, "[the MCP server notes cannot be used: it does not start: ", "cannot be reached"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in %s", want, out)
		}
	}
	if strings.Contains(out, "CANARY") {
		t.Errorf("the environment is printed: %s", out)
	}
}

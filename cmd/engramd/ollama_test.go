package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFindOllama holds which model of Ollama is taken, what is told of it, and that
// nothing else is one.
func TestFindOllama(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another address was asked") }))
	defer elsewhere.Close()
	t.Setenv("HTTP_PROXY", elsewhere.URL)
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"the first that talks": {200, `{"data": [{"id": "nomic-embed-text"}, {"id": ""}, {"id": "llama3:8b"}, {"id": "other"}]}`, "[{ollama openai URL llama3:8b  0s}] [{provider ollama found on this machine} {ollama base-url URL default} {ollama model llama3:8b found on this machine}]"},
		"only vectors":         {200, `{"data": [{"id": "all-minilm-embed"}]}`, "[] []"},
		"none":                 {200, `{"data": []}`, "[] []"},
		"not Ollama":           {200, `<html>`, "[] []"},
		"refused":              {401, `{"data": [{"id": "x"}]}`, "[] []"},
		"a redirect":           {302, ``, "[] []"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "" {
					t.Errorf("asked for %s with %v", r.URL, r.Header)
				}
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			providers, settings := findOllama(t.Context(), s.URL)
			s.Close()
			if got, want := fmt.Sprint(providers, settings), strings.ReplaceAll(c.want, "URL", s.URL); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if providers, _ := findOllama(t.Context(), s.URL); providers != nil {
				t.Errorf("of a server that is gone: %v", providers)
			}
		})
	}
}

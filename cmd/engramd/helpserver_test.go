package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

var curlLine = regexp.MustCompile(`(?m)^curl -s(?: --retry 5 --retry-connrefused)? \$URL(\S+)(?: -H "\$AUTH")?(?: --json '([^']*)')?$`)

// TestCurlExamples sends what README and help show, as curl would, but for what
// TestNewcomer types.
func TestCurlExamples(t *testing.T) {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, file := range []string{"../../README.md", "help/server.md"} {
		s := serve(t, filepath.Join(t.TempDir(), "data"))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file, "README") {
			_, rest := newcomerSection(t, string(text))
			text = []byte(rest)
		}
		examples := curlLine.FindAllStringSubmatch(string(text), -1)
		if len(examples) < 3 || len(examples) != strings.Count(string(text), "\ncurl ") {
			t.Errorf("%s: %d examples are understood", file, len(examples))
		}
		for _, e := range examples {
			method, body := http.MethodGet, io.Reader(nil)
			if e[2] != "" {
				method, body = http.MethodPost, strings.NewReader(e[2])
			}
			req, err := http.NewRequest(method, s.url+e[1], body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+s.token)
			if e[2] != "" {
				req.Header.Set("Content-Type", "application/json") // as --json does
				req.Header.Set("Accept", "application/json")
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(res.Body)
			_ = res.Body.Close() // only read
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s %v", e[0], res.StatusCode, content, err)
			}
			if strings.Contains(e[1], "recall") && !strings.Contains(string(content), "Ann moved to Lisbon") {
				t.Errorf("%s recalls %s", e[0], content)
			}
		}
	}
}

// TestHelpServerNamesRoutes holds the page to the flags and to the variables that
// there are.
func TestHelpServerNamesRoutes(t *testing.T) {
	page, err := os.ReadFile("help/server.md")
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ := command("", "serve", "--help")
	for _, flag := range regexp.MustCompile("--(listen|host|origin|tls-cert|tls-key|rate|log-format|backups)").FindAllString(string(page), -1) {
		if !strings.Contains(help, flag) {
			t.Errorf("engramd serve has no %s", flag)
		}
	}
	for _, name := range regexp.MustCompile("ENGRAM_[A-Z_]+").FindAllString(string(page), -1) {
		if !strings.Contains(help, name) && name != "ENGRAM_TOKEN" {
			t.Errorf("engramd serve does not read %s", name)
		}
	}
	unit := regexp.MustCompile(`(?m)^ExecStart=\S*/engramd (.*)$`).FindSubmatch(page)
	if unit == nil {
		t.Fatal("the page shows no systemd unit")
	}
	parser, err := kong.New(&grammar{}, kong.Name("engramd"), grammarVars())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(strings.Fields(string(unit[1]))); err != nil {
		t.Errorf("what the systemd unit starts: %v", err)
	}
	settings := regexp.MustCompile("(?s)`(\\{\"listen\".*?\\})`").FindSubmatch(page)
	if settings == nil {
		t.Fatal("the page shows no settings file")
	}
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, settings[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command("", "--config", file, "version"); code != exitOK {
		t.Errorf("the settings file: %d %s", code, errs)
	}
	if code, out, _ := command("", "help", "server"); code != 0 || out != string(page) {
		t.Errorf("engramd help server: %d", code)
	}
}

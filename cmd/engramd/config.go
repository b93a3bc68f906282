package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
)

// configFile gives flags the values of a file, where neither the command line nor
// the environment does.
type configFile struct {
	path   string
	values map[string]any
}

// readConfig reads a configuration file: one JSON object, flag → value.
func readConfig(path string) (*configFile, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingFileError{path}
	}
	if err != nil {
		return nil, err
	}
	c := &configFile{path: path}
	if err := json.Unmarshal(content, &c.values); err != nil {
		return nil, &usageError{fmt.Errorf("%s: want one JSON object of flags: %w", path, err)}
	}
	return c, nil
}

// Validate refuses flags that no command has.
func (c *configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[f.Name] = true
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(app.Node)
	names := make([]string, 0, len(c.values))
	for name := range c.values {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !known[name] || slices.Contains([]string{"help", "config"}, name) {
			return fmt.Errorf("%s: there is no flag --%s", c.path, name)
		}
	}
	return nil
}

// Resolve returns the value of a flag, or nil.
func (c *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		// Of a provider's settings an empty one is none.
		if v, ok := os.LookupEnv(env); ok && (v != "" || !strings.HasPrefix(env, "ENGRAM_LLM_")) {
			return nil, nil
		}
	}
	switch v := c.values[flag.Name].(type) {
	case nil:
		return nil, nil
	case string, bool, float64:
		return v, nil
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				return nil, fmt.Errorf("%s: %s is a list of texts", c.path, flag.Name)
			}
		}
		return v, nil
	case map[string]any:
		if flag.Name == "mcp-servers" {
			text, err := json.Marshal(v)
			return string(text), err
		}
	}
	return nil, fmt.Errorf("%s: %s is no value of a flag", c.path, flag.Name)
}

// configPath finds --config among the arguments, which has to be known before they
// are parsed.
func configPath(args []string) string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if v, ok := strings.CutPrefix(arg, "--config="); ok {
			return v
		}
		if arg == "--config" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return os.Getenv("ENGRAM_CONFIG")
}

package benchmarks

import (
	"fmt"
	"slices"
	"strings"
)

// config is one way to recall.
type config struct{ legs, off []string }

// String names a configuration as parseConfig reads it.
func (c config) String() string {
	legs := "all"
	if len(c.legs) > 0 {
		legs = strings.Join(slices.Sorted(slices.Values(c.legs)), "+")
	}
	if len(c.off) == 0 {
		return legs
	}
	return legs + " without " + strings.Join(slices.Sorted(slices.Values(c.off)), ", ")
}

// parseConfig reads all, legs=lexical+semantic, off=speaker+context, or both with a
// comma between.
func parseConfig(text string) (config, error) {
	var c config
	if text == "all" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, names, _ := strings.Cut(part, "=")
		list := strings.Split(names, "+")
		switch {
		case names == "":
			key = ""
		case key == "legs":
			c.legs = list
		case key == "off":
			c.off = list
		}
		if key != "legs" && key != "off" {
			return c, fmt.Errorf("%q is neither a file of saved results nor a configuration: all, legs=NAME+NAME, off=NAME+NAME or legs=NAME,off=NAME", text)
		}
	}
	return c, nil
}

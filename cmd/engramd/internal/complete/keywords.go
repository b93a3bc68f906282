package complete

import (
	"regexp"
	"slices"
	"strings"
)

var (
	keyword = regexp.MustCompile(`\b[A-Z]{2,}\b`)
	// used is a name of a label or type.
	used = regexp.MustCompile(`[:|]\s*([A-Z]{2,})\b`)
	// noise is what is written in capitals in an example and is no keyword.
	noise = regexp.MustCompile("(?s)'[^']*'|\"[^\"]*\"|`[^`]*`|//[^\n]*|/\\*.*?\\*/|[:|.$&!]\\s*[A-Za-z_]+")
)

// Keywords finds the keywords of the language in its reference: what the headings of
// its pages write in capitals, and its examples, but for what is the name of a label or type
// in one of them or stands in one that fails.
func Keywords(pages []string) []string {
	found, names := map[string]bool{}, map[string]bool{}
	for _, page := range pages {
		for _, block := range strings.Split(page, "```eql")[1:] {
			code, _, _ := strings.Cut(block, "```")
			if strings.HasPrefix(code, " error") {
				continue
			}
			for _, k := range keyword.FindAllString(noise.ReplaceAllString(code, " "), -1) {
				found[k] = true
			}
			for _, m := range used.FindAllStringSubmatch(code, -1) {
				names[m[1]] = true
			}
		}
	}
	for name := range names {
		delete(found, name)
	}
	for _, page := range pages {
		for line := range strings.Lines(page) {
			if heading, ok := strings.CutPrefix(line, "## "); ok && heading == strings.ToUpper(heading) {
				for _, k := range keyword.FindAllString(heading, -1) {
					found[k] = true
				}
			}
		}
	}
	var out []string
	for k := range found {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

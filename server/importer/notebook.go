package importer

import (
	"net/url"
	"path"
	"strings"
)

// why a link was not followed.
type linkFate uint8

const (
	linkFollowed linkFate = iota
	linkOutside
	linkMissing
)

// noteBook finds notes by what links say. Letter case does not count, as on most
// people's disks.
type noteBook struct {
	paths   map[string]string   // id by path
	names   map[string][]string // paths by name: of the file without suffix, title and other names
	folders map[string]bool
	others  map[string]bool // files that are no notes
}

func (b *noteBook) add(name, id string, names []string) {
	key := strings.ToLower(name)
	b.paths[key] = id
	stem := strings.TrimSuffix(path.Base(key), path.Ext(key))
	seen := map[string]bool{}
	for _, n := range append([]string{stem}, names...) {
		if n = strings.ToLower(strings.TrimSpace(n)); n != "" && !seen[n] {
			seen[n] = true
			b.names[n] = append(b.names[n], key)
		}
	}
}

// find returns the id of the note that a link leads to. It is empty for what leads to no
// note and is not meant to: web pages, mail addresses and files that are there.
func (b *noteBook) find(l storedLink) (id string, why linkFate) {
	if l.Wiki {
		return b.findName(l)
	}
	target := l.Target
	if i := strings.IndexAny(target, ":/?#"); i >= 0 && target[i] == ':' || strings.HasPrefix(target, "//") {
		return "", linkFollowed // another protocol
	}
	target, anchor, _ := strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if target == "" {
		return b.anchored(strings.ToLower(l.File), anchor), linkFollowed // within the note
	}
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	return b.findPath(path.Dir(l.File), target, anchor)
}

func (b *noteBook) findPath(dir, target, anchor string) (id string, why linkFate) {
	target = strings.ReplaceAll(target, "\\", "/")
	full := path.Join(dir, target)
	if strings.HasPrefix(target, "/") {
		full = strings.TrimPrefix(path.Clean(target), "/")
	}
	if full == ".." || strings.HasPrefix(full, "../") {
		return "", linkOutside
	}
	key := strings.ToLower(full)
	if key == "" {
		key = "."
	}
	for _, candidate := range []string{key, key + ".md", key + ".markdown", path.Join(key, "index.md"), path.Join(key, "index.markdown")} {
		if id := b.anchored(candidate, anchor); id != "" {
			return id, linkFollowed
		}
	}
	if b.others[key] || b.folders[key] {
		return "", linkFollowed
	}
	return "", linkMissing
}

// anchored is the id of a heading's node, if there is one, or of the note.
func (b *noteBook) anchored(key, anchor string) string {
	if anchor != "" {
		if id := b.paths[key+"#"+slug(anchor)]; id != "" {
			return id
		}
	}
	return b.paths[key]
}

// findName finds a note by its name, as in [[name#heading|shown]]; of several the one
// in the same folder, otherwise the one with the shortest path.
func (b *noteBook) findName(l storedLink) (id string, why linkFate) {
	name, _, _ := strings.Cut(l.Target, "|")
	name, anchor, _ := strings.Cut(name, "#")
	if name, anchor = strings.TrimSpace(name), strings.TrimPrefix(anchor, "^"); name == "" {
		return b.anchored(strings.ToLower(l.File), anchor), linkFollowed
	}
	dir := path.Dir(l.File)
	if strings.Contains(name, "..") || strings.Contains(name, "/") {
		if id, why = b.findPath(".", name, anchor); why == linkFollowed {
			return id, why
		}
		if id, why := b.findPath(dir, name, anchor); why == linkFollowed || why == linkOutside {
			return id, why
		}
	}
	key := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".markdown"))
	best := ""
	for _, p := range b.names[path.Base(key)] {
		if strings.Contains(key, "/") && !strings.HasSuffix(strings.TrimSuffix(p, path.Ext(p)), "/"+key) {
			continue
		}
		if best == "" || closer(p, best, strings.ToLower(dir)) {
			best = p
		}
	}
	if best == "" {
		for _, p := range b.names[key] {
			if best == "" || closer(p, best, strings.ToLower(dir)) {
				best = p
			}
		}
	}
	switch {
	case best != "":
		return b.anchored(best, anchor), linkFollowed
	case b.others[strings.ToLower(name)], b.other(name):
		return "", linkFollowed
	case why == linkOutside:
		return "", why
	}
	return "", linkMissing
}

// other reports whether a file with a name, which is no note, is anywhere.
func (b *noteBook) other(name string) bool {
	if path.Ext(name) == "" {
		return false
	}
	suffix := "/" + strings.ToLower(name)
	for p := range b.others {
		if strings.HasSuffix(p, suffix) {
			return true
		}
	}
	return false
}

func closer(a, b, dir string) bool {
	if x, y := path.Dir(a) == dir, path.Dir(b) == dir; x != y {
		return x
	}
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

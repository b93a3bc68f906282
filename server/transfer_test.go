package server_test

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// asTar makes a request's body a tar file.
func asTar(r *http.Request) { r.Header.Set("Content-Type", "application/x-tar") }

// tarText is an archive of files by name and text in pairs; a text of "->" is a link to
// the name behind it.
func tarText(t *testing.T, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: pairs[i], Size: int64(len(pairs[i+1])), Mode: 0o600}
		if target, link := strings.CutPrefix(pairs[i+1], "->"); link {
			h = &tar.Header{Typeflag: tar.TypeSymlink, Name: pairs[i], Linkname: target}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, pairs[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestImportFolders sends folders: what comes of them is what a folder of the disk gives;
// those that are refused leave nothing, in the graph and beside it.
func TestImportFolders(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	h := start(t)
	a := h.request(h.root, "POST", "/v1/import", tarText(t, "vault/a.md", "# A\n[b](d/b.md)", "vault/d/b.md", "text"), asTar)
	if a.status != 200 || a.json["format"] != "markdown" || a.json["files"] != 2.0 || a.json["edges_created"] != 1.0 {
		t.Errorf("Markdown: %d %s", a.status, a.body)
	}
	if got := h.eql("MATCH (a {id: 'vault/a.md'})-[:REFERENCES]->(b) RETURN b.id, b.content"); got != `[["vault/d/b.md","text"]]` {
		t.Errorf("Markdown became %s", got)
	}
	a = h.request(h.root, "POST", "/v1/import", tarText(t, "nodes.csv", "id,n\nx,1\ny,2\n", "edges.csv", "src,dst,type\nx,y,TO\n"), asTar)
	if a.status != 200 || a.json["format"] != "csv" || h.eql("MATCH ({id: 'x'})-[r:TO]->(y) RETURN y.n") != `[[2]]` {
		t.Errorf("CSV: %d %s", a.status, a.body)
	}
	before := h.eql("MATCH (n) RETURN count(n)")
	for name, body := range map[string]string{
		"a link":        tarText(t, "a.md", "bad", "l.md", "->/etc/passwd"),
		"a way out":     tarText(t, "a.md", "bad", "../b.md", "bad"),
		"an odd name":   tarText(t, "a.md", "bad", "b\nc.md", "bad"),
		"no archive":    strings.Repeat("x", 2000),
		"cut off":       tarText(t, "a.md", "bad", "b.md", "bad")[:1500],
		"a broken file": tarText(t, "a.md", "bad", "b.md", "caf\xe9"),
		"a broken line": tarText(t, "nodes.csv", "id\nbad\nbad\n"),
	} {
		a := h.request(h.root, "POST", "/v1/import", body, asTar)
		if a.status != 400 || a.json["code"] != "InvalidArgument" || !strings.Contains(a.body, "nothing was written") || h.eql("MATCH (n) RETURN count(n)") != before {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, q := range []string{"split=conversation", "name=../x.md", "name=a%0Ab.md", "dry_run=true&restart=true", "restart=maybe"} {
		if a := h.request(h.root, "POST", "/v1/import?"+q, `{"id":"never","text":"x"}`); a.status != 400 {
			t.Errorf("%s: %d %s", q, a.status, a.body)
		}
	}
	a = h.request(h.root, "POST", "/v1/import?name=one.md&format=markdown", "alone")
	if a.status != 200 || h.eql("MATCH (n {id: 'one.md'}) RETURN n.content") != `[["alone"]]` {
		t.Errorf("a single note: %d %s", a.status, a.body)
	}
	out := h.request(h.root, "GET", "/v1/export?format=csv", "")
	r := tar.NewReader(strings.NewReader(out.body))
	var names []string
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		names = append(names, e.Name)
	}
	if out.status != 200 || strings.Join(names, " ") != "default/ default/edges.csv default/nodes.csv" {
		t.Errorf("exported %v: %d", names, out.status)
	}
	left, err := os.ReadDir(temp)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "engram-") {
			t.Errorf("left behind: %s, %v", e.Name(), err)
		}
	}
}

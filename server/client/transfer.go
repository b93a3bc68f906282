package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"engram"
)

// ImportOptions say how a file or folder is imported. The zero value is usable: the
// format is found by the content.
type ImportOptions struct {
	// Archive tells that the content is a folder as a tar file.
	Archive bool
	// Name is the name of a file, by which a single note has its id. Not for archives.
	Name string
	// Format is how the content is written; empty: found by the content.
	Format string
	// Split makes nodes of the headings of Markdown ("heading").
	Split string
	// DryRun compares and writes nothing; SkipBad leaves out what is not understood;
	// Restart gives up an unfinished import of another source.
	DryRun, SkipBad, Restart bool
}

// Import sends a file or folder to the server, which reads all of it before it writes.
// The report of the server is decoded into report, as package encoding/json does.
func (c *Client) Import(ctx context.Context, content io.Reader, o *ImportOptions, report any) error {
	if o == nil {
		o = &ImportOptions{}
	}
	q := url.Values{"namespace": {c.namespace}}
	for name, v := range map[string]string{"name": o.Name, "format": o.Format, "split": o.Split} {
		if v != "" {
			q.Set(name, v)
		}
	}
	for name, v := range map[string]bool{"dry_run": o.DryRun, "skip_bad": o.SkipBad, "restart": o.Restart} {
		if v {
			q.Set(name, "true")
		}
	}
	media := "application/octet-stream"
	if o.Archive {
		media = "application/x-tar"
	}
	// The file stays the caller's, and a transport closes what it sends if it can.
	return c.get(ctx, http.MethodPost, "/v1/import?"+q.Encode(), struct{ io.Reader }{content}, report, map[string]string{"Content-Type": media})
}

// Export writes one moment of the namespace to w; formats that are folders come as a
// tar file. An answer that breaks off is an error.
func (c *Client) Export(ctx context.Context, format string, w io.Writer) error {
	res, err := c.send(ctx, http.MethodGet, c.path("/v1/export")+"&format="+url.QueryEscape(format), nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // only read
	if _, err := io.Copy(w, res.Body); err != nil {
		return &engram.Error{Code: CodeUnreachable, Message: "the export broke off: " + err.Error(), Err: err}
	}
	return nil
}

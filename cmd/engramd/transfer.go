package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"engram"
	"engram/server/archive"
	"engram/server/client"
	"engram/server/exporter"
	"engram/server/importer"
)

// orThroughServer calls here, unless --data names a server, and there when that cannot
// open the directory because another process has it open and can be talked to.
func (a *app) orThroughServer(here func() error, there func(address, secret string) error) error {
	if isURL(a.data) {
		secret, err := secretFor("")
		if err != nil {
			return err
		}
		return there(a.data, secret)
	}
	err := here()
	_, address, busy := engram.OwnerOf(err)
	if !busy || !isURL(address) && !strings.HasPrefix(address, "unix:") {
		return err
	}
	secret, tokenErr := secretFor(filepath.Join(a.data, "token"))
	if tokenErr != nil {
		return fmt.Errorf("%w; %w", err, tokenErr)
	}
	return there(address, secret)
}

// throughServer refuses flags that need the directory itself.
func (c *importCommand) throughServer(address string) error {
	for _, f := range []struct {
		given bool
		name  string
	}{
		{c.Links != "", "--links"}, {c.Split == "conversation", "--split conversation"}, {c.Batch != nil, "--batch"}, {c.Ack, "--ack"}, {c.NoText, "--no-text"},
	} {
		if f.given {
			return &usageError{fmt.Errorf("%s needs the data directory itself, and %s has it: end that server, or leave the flag out", f.name, address)}
		}
	}
	return nil
}

// send imports through a server.
func (c *importCommand) send(a *app, address, secret string, src importer.Source, opts importer.Options) error {
	if err := c.throughServer(address); err != nil {
		return err
	}
	if file, ok := src.File.(io.Seeker); ok { // it was read to find out
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	how := writing
	if c.DryRun {
		how = reading
	}
	return a.withServer(address, secret, how, func(db database) error {
		o := &client.ImportOptions{Name: src.Name, Format: opts.Format, Split: opts.Split, DryRun: opts.DryRun, SkipBad: opts.SkipBad, Restart: opts.Restart}
		content, stop := c.content(a, src, o)
		var report importer.Report
		err := db.(remote).Import(a.ctx, content, o, &report)
		if packing := stop(); packing != nil && !errors.Is(packing, io.ErrClosedPipe) {
			err = packing
		}
		source := strings.Join(c.Paths, " and ")
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if c.JSON {
			return printObject(a, report)
		}
		a.reportImport(source, report)
		return nil
	})
}

// content is what is sent: the file, or an archive of the folder or the two files. stop
// ends the packing of it and returns what went wrong with that.
func (c *importCommand) content(a *app, src importer.Source, o *client.ImportOptions) (content io.Reader, stop func() error) {
	if src.Dir == nil && src.Edges == nil {
		return src.File, func() error { return nil }
	}
	o.Archive, o.Name = true, ""
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.pack(a, src, o.Format, w)
		_ = w.CloseWithError(err) // never fails
		done <- err
	}()
	return r, func() error {
		_ = r.Close() // what is packed still is not needed
		return <-done
	}
}

func (c *importCommand) pack(a *app, src importer.Source, format string, w io.Writer) error {
	if src.Dir == nil {
		nodes, ok := src.File.(*os.File)
		edges, both := src.Edges.(*os.File)
		if !ok || !both {
			return errors.New("a graph in CSV is sent from two files")
		}
		return archive.PackFiles(a.ctx, w, archive.File{Name: "nodes.csv", File: nodes}, archive.File{Name: "edges.csv", File: edges})
	}
	whole := func(name string) bool {
		ext := strings.ToLower(path.Ext(name))
		return format != "markdown" || ext == ".md" || ext == ".markdown"
	}
	left, err := archive.Pack(a.ctx, w, src.Name, src.Dir, whole)
	if left > 0 {
		fmt.Fprintf(a.err, "%s: %s not sent\n", c.Paths[0], map[bool]string{true: "1 link or device was", false: fmt.Sprintf("%d links and devices were", left)}[left == 1])
	}
	return err
}

// receive exports through a server.
func (c *exportCommand) receive(a *app, address, secret string, dir bool) error {
	if c.JSON {
		return &usageError{fmt.Errorf("--json needs the data directory itself, and %s has it: end that server, or leave the flag out", address)}
	}
	return a.withServer(address, secret, reading, func(db database) error {
		from := db.(remote)
		switch {
		case c.Out == "":
			return from.Export(a.ctx, c.Format, a.out)
		case dir:
			if err := c.receiveDir(a, from); err != nil {
				return err
			}
		default:
			_, err := c.file(c.Format, func(w io.Writer) (r exporter.Report, err error) { return r, from.Export(a.ctx, c.Format, w) })
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(a.err, "%s: exported by %s\n", c.Out, address)
		return nil
	})
}

// receiveDir unpacks a folder beside the one that is made, so that this is whole or not
// there.
func (c *exportCommand) receiveDir(a *app, from remote) (err error) {
	out := filepath.Clean(c.Out)
	entries, err := os.ReadDir(out)
	if len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("the folder %s is not empty: give another one, or one that is to be made", out))
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(out), ".engram-export-*") // mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := from.Export(a.ctx, c.Format, w)
		_ = w.CloseWithError(err) // never fails
		done <- err
	}()
	err = archive.Unpack(a.ctx, r, root)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // what stands behind the end of the archive
	}
	_ = r.Close() // what comes still is not needed
	if sent := <-done; sent != nil && !errors.Is(sent, io.ErrClosedPipe) {
		err = sent
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	if err := os.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(temp, a.namespace), out)
}

package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"engram"
)

// Source is what is imported: a file or a folder.
type Source struct {
	// Name is the name of the file or folder, without those above it. Ids of Markdown
	// files begin with it.
	Name string
	// File is the file. What cannot seek is copied to a temporary file first.
	File io.Reader
	// Edges is the second file of a graph in CSV.
	Edges io.ReadSeeker
	// Dir is the folder. Nothing outside it is read, and no link in it is followed.
	Dir *os.Root
}

// Target databases are asked for by name: empty means the one that the import goes
// into, others are those of --split conversation.
type openFunc func(conversation string) (*engram.DB, error)

// Import brings a source into a database. Everything is read before anything is
// written; what cannot be understood ends the import without a trace, or is left out
// with Options.SkipBad. Importing again changes what the source changed, and leaves
// what was edited in the database.
func Import(ctx context.Context, db *engram.DB, src Source, opts Options) (Report, error) {
	return ImportLater(ctx, func(string) (*engram.DB, error) { return db, nil }, false, src, opts)
}

// ImportLater is Import into a database that is opened once the source has been read
// and found good. open is asked with an empty name, and with Options.Split
// "conversation" with the name of each conversation; a nil database stands for one
// that is missing, which is good for a dry run. missing tells that opening makes the
// database: then nothing is made for sources that are refused.
func ImportLater(ctx context.Context, open func(conversation string) (*engram.DB, error), missing bool, src Source, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	im := &importing{ctx: ctx, open: open, missing: missing, src: src, opts: opts}
	defer im.close()
	if err := im.prepare(); err != nil {
		return im.report, err
	}
	err = im.format.run(im)
	im.report.Format, im.report.DryRun = im.format.name, opts.DryRun
	return im.report, err
}

// importing is one import.
type importing struct {
	ctx  context.Context //nolint:containedctx // of one import
	open openFunc
	// missing: the database is made when it is opened.
	missing bool
	src     Source
	file    io.ReadSeeker // of a source that is a file
	temp    *os.File
	opened  []*os.File // of a folder
	opts    Options
	format  *format
	report  Report
}

func (im *importing) close() {
	if im.temp != nil {
		_ = im.temp.Close() // it has no name any more
	}
	for _, f := range im.opened {
		_ = f.Close() // it was only read
	}
}

// format is a way in which inputs are written.
type format struct {
	name  string
	dir   bool     // a folder can be read
	split []string // what Options.Split may be
	run   func(im *importing) error
}

func allFormats() []format {
	return []format{
		{name: "jsonl", run: staged(false, readGraphLines)},
		{name: "memories", split: []string{"conversation"}, run: runMemories},
		{name: "csv", dir: true, run: runTables},
		{name: "cypher", run: runScript},
		{name: "memory", run: staged(true, readEntities)},
		{name: "backup", dir: true, run: staged(false, readBackup)},
		{name: "openai", split: []string{"conversation"}, run: readChats(openAI)},
		{name: "anthropic", split: []string{"conversation"}, run: readChats(anthropic)},
		{name: "markdown", dir: true, split: []string{"heading"}, run: staged(true, readNotes)},
	}
}

func runMemories(im *importing) (err error) {
	im.report, err = memories(im.ctx, im.open, im.file, im.opts)
	return err
}

func runTables(im *importing) (err error) {
	nodes, edges := im.file, im.src.Edges
	if im.src.Dir != nil {
		if nodes, err = im.table(nodesFile); err != nil {
			return err
		}
		if _, missing := im.src.Dir.Lstat(edgesFile); missing == nil {
			if edges, err = im.table(edgesFile); err != nil {
				return err
			}
		}
	}
	im.report, err = GraphLater(im.ctx, func() (*engram.DB, error) { return im.open("") }, im.missing, nodes, edges, im.opts)
	return err
}

// The files of a folder that holds a graph as CSV.
const (
	nodesFile = "nodes.csv"
	edgesFile = "edges.csv"
)

// table opens a plain file of the folder.
func (im *importing) table(name string) (io.ReadSeeker, error) {
	info, err := im.src.Dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &FileError{name, errors.New("it is no plain file")}
	}
	f, err := im.src.Dir.Open(name)
	if err == nil {
		im.opened = append(im.opened, f)
	}
	return f, err
}

// Detect finds the format of a source by its content, unless Options.Format gives it.
// A file is read from its begin again.
func Detect(ctx context.Context, src Source, opts Options) (string, error) {
	im := &importing{ctx: ctx, src: src, opts: opts}
	defer im.close()
	err := im.prepare()
	if err != nil {
		return "", err
	}
	return im.format.name, nil
}

// Formats lists the names that Options.Format may have.
func Formats() []string {
	formats := allFormats()
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// prepare makes the source readable twice and finds its format.
func (im *importing) prepare() error {
	if im.src.Dir == nil {
		if err := im.rewindable(); err != nil {
			return err
		}
	}
	name := im.opts.Format
	if name == "" {
		var err error
		if name, err = im.detect(); err != nil {
			return err
		}
	}
	formats := allFormats()
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("there is no format %q; known are %s", name, strings.Join(Formats(), ", "))
	}
	im.format = &formats[i]
	if im.src.Dir == nil && name == "backup" {
		return errors.New("a backup is a folder: give the folder")
	}
	if im.src.Dir != nil && !im.format.dir {
		return fmt.Errorf("the format %s is one of files, and a folder was given", name)
	}
	if s := im.opts.Split; s != "" && !slices.Contains(im.format.split, s) {
		return fmt.Errorf("the format %s cannot be split by %s", name, s)
	}
	return nil
}

// rewindable copies a stream to a temporary file, so that it can be read twice.
func (im *importing) rewindable() (err error) {
	im.file, im.temp, err = Rewindable(im.ctx, im.src.File)
	return err
}

// Rewindable returns what is read from r as a file that can be read again. If r cannot,
// it is copied to a temporary file without a name, which the caller closes; otherwise
// the temporary file is nil.
func Rewindable(ctx context.Context, r io.Reader) (file io.ReadSeeker, temp *os.File, err error) {
	if s, ok := r.(io.ReadSeeker); ok {
		if _, err := s.Seek(0, io.SeekCurrent); err == nil {
			return s, nil, nil
		}
	}
	f, err := newSpoolFile()
	if err != nil {
		return nil, nil, err
	}
	_, err = io.Copy(f.file, contextReader{ctx, r})
	if err == nil {
		_, err = f.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.file.Close())
	}
	return f.file, f.file, nil
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context //nolint:containedctx // of one import
	r   io.Reader
}

// Read reads a piece.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// rewind goes back to the begin of the file.
func (im *importing) rewind() error {
	_, err := im.file.Seek(0, io.SeekStart)
	return err
}

// staged makes a run of a reader: all is staged, then published.
func staged(owned bool, read func(im *importing, s *stage) error) func(im *importing) error {
	return func(im *importing) error {
		s, err := newStage(im.ctx, &im.report, owned, im.opts)
		if err != nil {
			return err
		}
		defer s.close()
		if err := read(im, s); err != nil {
			return err
		}
		return im.publish(s, "")
	}
}

var errNoDatabase = errors.New("there is no database to write to")

func (im *importing) publish(s *stage, conversation string) error {
	if im.missing {
		if err := (&publisher{stage: s}).verifyEnds(nil); err != nil {
			return err
		}
	}
	db, err := im.open(conversation)
	if err != nil {
		return err
	}
	if db == nil && !im.opts.DryRun {
		return errNoDatabase
	}
	return s.publish(db, im.opts)
}

// OpenSource opens a file or folder by its path.
func OpenSource(path string) (src Source, close func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, nil, err
	}
	name := filepath.Base(path)
	if abs, err := filepath.Abs(path); err == nil {
		name = filepath.Base(abs)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return Source{}, nil, err
		}
		return Source{Name: name, Dir: root}, root.Close, nil
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		return Source{}, nil, fmt.Errorf("%s is neither a file nor a folder", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Source{}, nil, err
	}
	return Source{Name: name, File: f}, f.Close, nil
}

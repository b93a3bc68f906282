package text

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	index "github.com/blevesearch/bleve_index_api"
	bolterrors "go.etcd.io/bbolt/errors"
)

// batchDocs is how many documents go to disk in one batch, unless a single
// transaction has more.
const batchDocs = 4000

// loadDocs is how many go in one batch when an index is filled from scratch.
const loadDocs = 3000

// rootFile is the file that names an index's segments. Opening a directory in
// which it is missing or empty deletes every segment there.
const rootFile = "root.bolt"

// damagedFile marks an index that must be set aside when opened next.
const damagedFile = "damaged"

// newSuffix is where an index is made before it is moved into place.
const newSuffix = ".new"

// disk is the index's directory.
type disk struct {
	dir    string
	fields []Field
	print  uint32
	// readOnly changes nothing on disk.
	readOnly bool
	scorch   *scorch.Scorch
	queue    *index.AnalysisQueue

	mu   sync.Mutex
	pins []*pin // of all bases handed out
}

// openDisk opens a directory, or makes an empty index in place of one that is
// missing or of no use.
func openDisk(o Options, print uint32) (*disk, *base, error) {
	d := &disk{dir: o.Dir, fields: o.Fields, print: print}
	if err := os.RemoveAll(d.dir + newSuffix); err != nil { // of an attempt cut short
		return nil, nil, fmt.Errorf("text index: %w", err)
	}
	if _, err := os.Stat(d.dir); err == nil {
		b, err := d.tryOpen(o.Head)
		if err == nil {
			return d, b, nil
		}
		if errors.Is(err, ErrBusy) || errors.Is(err, os.ErrPermission) {
			return nil, nil, err
		}
		if err := setAside(d.dir); err != nil {
			return nil, nil, err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("text index: %w", err)
	}
	if err := d.create(); err != nil {
		return nil, nil, err
	}
	b, err := d.tryOpen(0)
	if err != nil {
		return nil, nil, fmt.Errorf("text index: open the one just created in %s: %w", d.dir, err)
	}
	return d, b, nil
}

// tryOpen opens the index; any error but ErrBusy means that it is of no use.
// head, when not 0, bounds the seq it may have.
func (d *disk) tryOpen(head uint64) (*base, error) {
	defer panicOnFault()()
	h, err := openable(d.dir)
	switch {
	case err != nil:
		return nil, err
	case h.print != d.print:
		return nil, ErrStale
	case head != 0 && h.seq > head:
		return nil, errAhead(h.seq, head)
	case len(h.counts.fields) != len(d.fields):
		return nil, errHeader
	}
	if err := d.start(d.dir); err != nil {
		return nil, err
	}
	b, err := d.newBase(nil)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return b, nil
}

func errAhead(seq, head uint64) error {
	return fmt.Errorf("text index: at seq %d, ahead of the database at %d", seq, head)
}

// start runs the index in dir. Damaged files make its libraries panic.
func (d *disk) start(dir string) (err error) {
	// One worker: documents come analysed.
	queue := index.NewAnalysisQueue(1)
	defer func() {
		if err != nil {
			queue.Close()
		}
	}()
	defer recoverDamage(&err, dir)
	registerBackoff()
	i, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path":                   dir,
		"bolt_timeout":           lockTimeout.String(),
		"numSnapshotsToKeep":     1,
		"asyncErrorCallbackName": backoffName,
		"read_only":              d.readOnly,
	}, queue)
	if err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	s, ok := i.(*scorch.Scorch)
	if !ok {
		return fmt.Errorf("text index: the library gave a %T", i)
	}
	if err := s.Open(); err != nil {
		if errors.Is(err, bolterrors.ErrTimeout) {
			return ErrBusy
		}
		return fmt.Errorf("text index: open %s: %w", dir, err)
	}
	d.scorch, d.queue = s, queue
	return nil
}

// create makes an empty index aside and moves it into place: an index whose
// creation was cut short cannot be opened.
func (d *disk) create() error {
	return d.replaceBy(func(fill *disk) error {
		return fill.write(nil, header{counts: newCounts(len(d.fields))})
	})
}

// replaceBy fills a new index aside, while d may go on serving searches, then
// stops d and moves the new one to its place. When filling fails d is as it was;
// when moving fails d is stopped.
func (d *disk) replaceBy(fill func(*disk) error) error {
	tmp := d.dir + newSuffix
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	n := &disk{dir: tmp, fields: d.fields, print: d.print}
	if err := n.start(tmp); err != nil {
		return err
	}
	if err := errors.Join(fill(n), n.close()); err != nil {
		return err
	}
	if err := d.close(); err != nil {
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	if err := os.Rename(tmp, d.dir); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	return syncDir(filepath.Dir(d.dir))
}

// settling is how long merging may go on after filling, should the disk be full.
const settling = time.Minute

// settle merges what is due and would be left behind by closing, unless ctx ends:
// how large an index is must not depend on how busy the machine was.
func (d *disk) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	due := mergeplan.DefaultMergePlanOptions
	_ = d.scorch.ForceMerge(ctx, &due) // whatever fails the library tries again later
}

// setAside keeps what could not be used, in place of an earlier one.
func setAside(dir string) error {
	aside := dir + ".damaged"
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	if err := os.Rename(dir, aside); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *disk) markDamaged() {
	_ = os.WriteFile(filepath.Join(d.dir, damagedFile), nil, 0o600)
}

// newBase pins the current snapshot.
func (d *disk) newBase(prev *base) (*base, error) {
	b, err := openBase(d.scorch, d.fields, prev)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pins = append(d.pins, b.pin)
	return b, nil
}

// write applies one batch: documents, the newest of each node, and the header
// that describes the index with them in.
func (d *disk) write(docs []*document, h header) error {
	h.print = d.print
	batch := index.NewBatch()
	for _, doc := range docs {
		if doc.deleted() {
			batch.Delete(docID(doc.node))
		} else {
			batch.Update(newZapDoc(doc, d.fields))
		}
	}
	batch.SetInternal(headerKey, h.encode())
	return d.scorch.Batch(batch)
}

// append writes the entries of a generation's tail. seq is the newest published
// one: no entry is newer. Batches end where transactions end, so that at any
// moment the index on disk is exactly what its header says.
func (d *disk) append(g *generation, docs []*tailDoc, seq uint64) (*base, error) {
	h := g.base.header
	for start := 0; start < len(docs) || start == 0; {
		end := batchEnd(docs, start)
		batch := make([]*document, 0, end-start)
		for i := start; i < end; i++ {
			if next := docs[i].next.Load(); next == 0 || int(next) > end {
				batch = append(batch, docs[i].document)
			}
			h.maxNode = max(h.maxNode, docs[i].node)
		}
		h.seq = seq
		if end < len(docs) {
			h.seq = docs[end-1].seq
		}
		if end > 0 {
			h.counts = docs[end-1].after
		}
		if err := d.write(batch, h); err != nil {
			return nil, fmt.Errorf("text index: write to %s: %w", d.dir, err)
		}
		if start = end; end == len(docs) {
			break
		}
	}
	d.dropPins()
	return d.newBase(g.base)
}

// batchEnd returns where the batch that starts at start ends: at the last end of
// a transaction within batchDocs entries, or else at the first one beyond.
func batchEnd(docs []*tailDoc, start int) int {
	end := min(start+batchDocs, len(docs))
	at := end
	for at > start && at < len(docs) && docs[at].seq == docs[at-1].seq {
		at--
	}
	if at > start || start == len(docs) {
		return at
	}
	for end < len(docs) && docs[end].seq == docs[end-1].seq {
		end++
	}
	return end
}

// dropPins forgets pins that were let go.
func (d *disk) dropPins() {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.pins[:0]
	for _, p := range d.pins {
		p.mu.Lock()
		if !p.closed {
			kept = append(kept, p)
		}
		p.mu.Unlock()
	}
	clear(d.pins[len(kept):])
	d.pins = kept
}

// close lets go of every snapshot and stops the index.
func (d *disk) close() error {
	if d.scorch == nil {
		return nil
	}
	d.mu.Lock()
	pins := d.pins
	d.pins = nil
	d.mu.Unlock()
	for _, p := range pins {
		p.letGo()
	}
	err := d.scorch.Close()
	d.queue.Close()
	d.scorch, d.queue = nil, nil
	return err
}

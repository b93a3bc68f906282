package importer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// Bounds of what one transaction merges.
const (
	batchBytes = 4 << 20
	wholeRows  = 2_000 // inputs up to this size are merged in one transaction
)

// publisher brings what is staged into a database.
type publisher struct {
	*stage
	db   *engram.DB // nil: there is none yet, and nothing is to be written
	opts Options
	one  *engram.Tx // the transaction that holds all of it, if it is small
	// columns are the properties that the input can speak of; nil: of all.
	columns map[string]bool
	seq     uint64
}

// publish writes all of a stage: at once into an empty database, or in one
// transaction when it is small; otherwise in batches, after which importing again goes
// on.
func (s *stage) publish(db *engram.DB, opts Options) error {
	p := &publisher{stage: s, db: db, opts: opts}
	if s.repeats.seen == nil {
		s.repeats.settle()
	}
	if db == nil {
		return p.pretend()
	}
	bulk, err := emptied(s.ctx, db, opts)
	if err != nil {
		return err
	}
	if bulk {
		if opts.DryRun {
			return p.pretend()
		}
		if err := p.verifyEnds(nil); err != nil {
			return err
		}
		return p.load()
	}
	if s.hasUnnamed {
		return s.unnamed.wrap(errors.New("the property id of the node is no text, so it could not be found again: import it into an empty namespace"))
	}
	if err := p.verifyEnds(Into(db)); err != nil {
		return err
	}
	return p.merge()
}

// emptied reports whether a database is loaded in bulk: it is empty, or has an
// unfinished load, which Options.Restart gives up.
func emptied(ctx context.Context, db *engram.DB, opts Options) (bool, error) {
	stats, err := db.Stats(ctx)
	if err != nil {
		return false, err
	}
	unfinished, err := db.UnfinishedLoad()
	if err != nil {
		return false, err
	}
	if unfinished != nil && opts.Restart && !opts.DryRun {
		return stats.Nodes == 0, db.GiveUpLoad(ctx)
	}
	return stats.Nodes == 0 || unfinished != nil, nil
}

// pretend counts what an import into nothing would make.
func (p *publisher) pretend() error {
	if err := p.verifyEnds(nil); err != nil {
		return err
	}
	if err := p.eachEdge(func(origin, *graphline.Edge) error { return nil }); err != nil {
		return err
	}
	p.report.Created, p.report.EdgesCreated = p.report.Nodes, p.report.Edges
	return nil
}

// verifyEnds finds edges that hang on nothing.
func (p *publisher) verifyEnds(to Target) error {
	if len(p.others) == 0 {
		return nil
	}
	missing := map[string]bool{}
	if to != nil {
		ids := make([]string, len(p.others))
		for i, o := range p.others {
			ids[i] = o.id
		}
		var err error
		if missing, err = missingIDs(p.ctx, to, ids); err != nil {
			return err
		}
	}
	p.missing = map[uint32]bool{}
	for _, o := range p.others {
		if to != nil && !missing[o.id] {
			continue
		}
		if !p.skipBad {
			return o.at.wrap(errNoNode(o.id))
		}
		n, _ := p.ids.get(o.id)
		p.missing[n] = true
	}
	return nil
}

// load fills an empty database in bulk, behind what an interrupted import of the same
// input left. It shows when all of it is there.
func (p *publisher) load() error {
	load, err := p.db.LoadFrom(p.ctx, engram.LoadOptions{Source: p.fingerprint(), BatchKeys: p.opts.chosen, TextLater: p.opts.NoText})
	if err != nil {
		return err
	}
	defer load.Abort()
	skipNodes, skipEdges := load.Done()
	p.report.Resumed = int(skipNodes + skipEdges)
	done, acked := 0, uint64(0)
	step := func() {
		done++
		nodes, edges, seq := load.Progress()
		if seq > acked {
			acked = seq
			p.report.Transactions++
			if p.opts.Ack != nil {
				p.opts.Ack(seq, int(nodes+edges))
			}
		}
		p.tell(done)
	}
	err = p.eachNode(func(at origin, n *graphline.Node) error {
		if skipNodes > 0 {
			skipNodes--
		} else if _, err := load.Node(n.Labels, n.Props); err != nil {
			return at.wrap(err)
		}
		step()
		return nil
	})
	if err != nil {
		return err
	}
	err = p.eachEdge(func(at origin, e *graphline.Edge) error {
		if skipEdges > 0 {
			skipEdges--
			step()
			return nil
		}
		l := p.link(e)
		src, err := load.NodeAt(int64(l.src))
		if err != nil {
			return at.wrap(err)
		}
		dst, err := load.NodeAt(int64(l.dst))
		if err == nil {
			_, err = load.Edge(src, dst, e.Type, e.Props)
		}
		if err != nil {
			return at.wrap(err)
		}
		step()
		return nil
	})
	if err != nil {
		return err
	}
	p.ids, p.repeats, p.others = idTable{}, repeats{}, nil // closing needs the room
	loaded, err := load.Close()
	if err != nil {
		return err
	}
	p.report.Transactions = int(loaded.Batches)
	p.report.Created, p.report.EdgesCreated = p.report.Nodes, p.report.Edges
	if p.opts.Ack != nil {
		p.opts.Ack(loaded.Seq, done)
	}
	return p.declare(func(string) bool { return true })
}

// tell reports progress by the share of records that were written.
func (p *publisher) tell(done int) {
	if p.opts.Progress != nil && done%1000 == 0 {
		p.opts.Progress(int64(done))
	}
}

// declare runs the statements of the input that declare something, those that fn
// chooses.
func (p *publisher) declare(fn func(statement string) bool) error {
	for _, text := range p.schema {
		if p.opts.DryRun || !fn(text) {
			continue
		}
		_, err := p.db.Query(p.ctx, text, nil)
		var e *engram.Error
		switch {
		case err == nil:
			p.report.Declared++
		case errors.As(err, &e) && e.Code != engram.CodeResourceExhausted && p.ctx.Err() == nil:
			p.report.problemAt(origin{}, "%s was not declared: %s", text, firstLine(e.Message))
		default:
			return err
		}
	}
	return nil
}

// transaction runs fn in the transaction that holds all of the import, in one of its
// own, or over one moment when nothing is to be written.
func (p *publisher) transaction(fn func(tx *engram.Tx) error) error {
	switch {
	case p.one != nil:
		return fn(p.one)
	case p.opts.DryRun:
		return p.db.View(p.ctx, fn)
	}
	before := p.report.written()
	seq, err := p.db.UpdateSeq(p.ctx, fn)
	if err != nil {
		return err
	}
	if p.report.written() > before {
		p.report.Transactions++
	}
	p.seq = seq
	return nil
}

// rows merges nodes and the edges that hang on them, or on what is there, as one
// transaction.
func (p *publisher) rows(nodes []row[*graphline.Node], edges []row[*graphline.Edge]) error {
	if p.db == nil { // a dry run into nothing
		p.report.Created += len(nodes)
		p.report.EdgesCreated += len(edges)
		return nil
	}
	return p.transaction(func(tx *engram.Tx) error {
		if err := p.mergeNodes(tx, nodes); err != nil {
			return err
		}
		return p.mergeEdges(tx, edges)
	})
}

// merge merges batches into what is there.
func (p *publisher) merge() error {
	if err := p.declare(isCreate); err != nil {
		return err
	}
	rows := p.nodes.count + p.edges.count
	var err error
	if rows <= wholeRows && p.bytes <= batchBytes && p.opts.chosen == 0 && !p.opts.DryRun {
		err = p.transaction(func(tx *engram.Tx) error {
			p.one = tx
			defer func() { p.one = nil }()
			return p.mergeAll()
		})
		if err == nil && p.opts.Ack != nil {
			p.opts.Ack(p.seq, int(rows))
		}
	} else {
		err = p.mergeAll()
	}
	if err != nil {
		return err
	}
	return p.declare(func(text string) bool { return !isCreate(text) })
}

func (p *publisher) mergeAll() error {
	done := 0
	flush := func(n int, write func(tx *engram.Tx) error) error {
		if n == 0 {
			return nil
		}
		if p.opts.Begin != nil && p.one == nil && !p.opts.DryRun {
			p.opts.Begin(done + n)
		}
		if err := p.transaction(write); err != nil {
			return err
		}
		done += n
		if p.opts.Progress != nil {
			p.opts.Progress(int64(done))
		}
		if p.opts.Ack != nil && p.one == nil && !p.opts.DryRun {
			p.opts.Ack(p.seq, done)
		}
		return nil
	}
	nodes := &batch[*graphline.Node]{limit: p.opts.Batch, flush: func(rows []row[*graphline.Node]) error {
		return flush(len(rows), func(tx *engram.Tx) error { return p.mergeNodes(tx, rows) })
	}}
	err := p.eachNode(func(at origin, n *graphline.Node) error { return nodes.add(at, n, sizeOf(n.Props)) })
	if err == nil {
		err = nodes.end()
	}
	if err != nil {
		return err
	}
	edges := &batch[*graphline.Edge]{limit: p.opts.Batch, flush: func(rows []row[*graphline.Edge]) error {
		return flush(len(rows), func(tx *engram.Tx) error { return p.mergeEdges(tx, rows) })
	}}
	var several []row[*graphline.Edge]
	err = p.eachEdge(func(at origin, e *graphline.Edge) error {
		if !p.owned && p.repeats.twice[p.link(e).hash()] {
			several = append(several, row[*graphline.Edge]{at, e})
			return nil
		}
		return edges.add(at, e, sizeOf(e.Props))
	})
	if err == nil {
		err = edges.end()
	}
	if err != nil {
		return err
	}
	return p.mergeSeveral(edges, several)
}

// mergeSeveral merges the edges of which there may be several between the same nodes:
// those of one group come in one batch, so that they are compared together.
func (p *publisher) mergeSeveral(edges *batch[*graphline.Edge], rows []row[*graphline.Edge]) error {
	key := func(r row[*graphline.Edge]) string { return r.item.Type + "\x00" + r.item.From + "\x00" + r.item.To }
	slices.SortStableFunc(rows, func(a, b row[*graphline.Edge]) int { return strings.Compare(key(a), key(b)) })
	for i, r := range rows {
		edges.rows = append(edges.rows, r)
		if last := i == len(rows)-1; last || len(edges.rows) >= edges.limit && key(r) != key(rows[i+1]) {
			if err := edges.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

func sizeOf(props []engram.Prop) int {
	n := 0
	for _, p := range props {
		n += len(p.Key) + p.Value.Size()
	}
	return n
}

// row is a record with its place.
type row[T any] struct {
	at   origin
	item T
}

// batch gathers rows up to a number and a size.
type batch[T any] struct {
	limit, bytes int
	rows         []row[T]
	flush        func(rows []row[T]) error
}

func (b *batch[T]) add(at origin, item T, size int) error {
	if len(b.rows) > 0 && b.bytes+size > batchBytes {
		if err := b.end(); err != nil {
			return err
		}
	}
	b.rows, b.bytes = append(b.rows, row[T]{at, item}), b.bytes+size
	if len(b.rows) >= b.limit {
		return b.end()
	}
	return nil
}

func (b *batch[T]) end() error {
	rows := b.rows
	b.rows, b.bytes = nil, 0
	return b.flush(rows)
}

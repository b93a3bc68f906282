package graph

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"engram/graph/internal/catalog"
	"engram/graph/internal/commit"
	"engram/graph/internal/extid"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
	"engram/graph/internal/text"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// identityVersion is the version of the graph's own format inside the store.
//
//	1  first
const identityVersion = 1

// initialPuts makes the content of a new database: who it is, and the name id,
// which must have the first number.
func initialPuts(o *Options) ([]store.Put, error) {
	var random [8]byte
	if _, err := io.ReadFull(o.Random, random[:]); err != nil {
		return nil, fmt.Errorf("reading random bytes for the database's tag: %w", err)
	}
	tag := extid.TagOf(binary.LittleEndian.Uint64(random[:]))
	identity := binary.AppendUvarint([]byte{identityVersion}, uint64(tag))
	identity = binary.AppendVarint(identity, o.Now().UnixMilli())
	nameKey := catalog.StoreKey(catalog.Key, uint32(idKey))
	seal := record.Sealer{Tag: uint64(tag)}
	return []store.Put{
		// The tag is not known before this record is read, so it is sealed with 0.
		{Space: store.Meta, Key: metaIdentity, Value: record.Sealer{}.Seal(store.Meta, metaIdentity, identity)},
		{Space: store.Names, Key: nameKey, Value: seal.Seal(store.Names, nameKey, []byte("id"))},
		markPut(seal, metaNodeMark, 0),
		markPut(seal, metaEdgeMark, 0),
	}, nil
}

// OpenMemory makes an empty graph that lives in memory only.
func OpenMemory(o *Options) (*DB, error) {
	opts := fill(o)
	puts, err := initialPuts(&opts)
	if err != nil {
		return nil, wrap(err)
	}
	driver, err := mem.New(puts...)
	if err != nil {
		return nil, wrap(err)
	}
	return openDriver(context.Background(), driver, opts, place{file: "memory"})
}

func fill(o *Options) Options {
	if o == nil {
		o = &Options{}
	}
	return o.withDefaults()
}

// openDriver loads a store and starts the database over it, which owns the
// driver from now on.
func openDriver(ctx context.Context, driver store.Driver, opts Options, place place) (*DB, error) {
	reader, err := driver.Snapshot()
	if err != nil {
		_ = driver.Close()
		return nil, wrap(err)
	}
	l := &loaded{ctx: ctx, r: reader, head: reader.Seq(), opts: &opts, seal: record.Sealer{File: place.file}}
	var ix *text.Index
	if err = l.load(place); err == nil {
		ix, err = l.openText(place)
	}
	if cerr := reader.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = driver.Close()
		return nil, wrap(err)
	}
	db, err := start(driver, l, ix, opts, place)
	if err != nil {
		_ = ix.Close()
	}
	return db, err
}

// loaded is what opening reads from a store: the state of its seq. The topology
// comes from its file and the log behind it, else it is built from the node
// records and the blocks of edges.
type loaded struct {
	ctx       context.Context //nolint:containedctx // of one opening
	r         store.Reader
	opts      *Options
	seal      record.Sealer
	tag       extid.Tag
	created   int64
	head      store.Seq
	state     *state
	graves    map[value.NodeID]bool
	last      marks // the highest ids seen
	from      from
	textLater bool     // the text index is opened later
	logged    uint64   // bytes of the log that was replayed
	notes     []string // what was odd but could be dealt with
}

func (l *loaded) load(place place) error {
	if err := l.identity(); err != nil {
		return err
	}
	names, err := l.names()
	if err != nil {
		return err
	}
	l.state = &state{names: names, keys: l.opts.special(names)}
	if err := l.meta(); err != nil {
		return err
	}
	if err := l.vocabulary(); err != nil {
		return err
	}
	if err := l.activity(); err != nil {
		return err
	}
	if err := l.schema(); err != nil {
		return err
	}
	if err := l.anyTopology(place); err != nil {
		return err
	}
	if m := l.state.marks; l.last.node > m.node || l.last.edge > m.edge {
		return l.seal.Damaged(store.Meta, metaNodeMark,
			fmt.Sprintf("ids up to node %d and edge %d are in use, but the marks are %d and %d", l.last.node, l.last.edge, m.node, m.edge))
	}
	return nil
}

// envelope opens every record, that of the identity with the tag 0.
type envelope struct{ record.Sealer }

// Open implements commit.Envelope.
func (e envelope) Open(space store.Space, key, sealed []byte) ([]byte, error) {
	if space == store.Meta && bytes.Equal(key, metaIdentity) {
		e.Tag = 0
	}
	return e.Sealer.Open(space, key, sealed)
}

func (l *loaded) identity() error {
	sealed, err := l.r.Get(store.Meta, metaIdentity)
	if err != nil {
		return err
	}
	if sealed == nil {
		return &store.FileError{Err: store.ErrForeign, Path: l.seal.File, Detail: "it has no database identity"}
	}
	b, err := l.seal.Open(store.Meta, metaIdentity, sealed)
	if err != nil {
		return err
	}
	if len(b) == 0 || b[0] != identityVersion {
		return &store.FileError{Err: store.ErrNewer, Path: l.seal.File, Hint: "use the version of engram that wrote it, or a newer one"}
	}
	tag, n := binary.Uvarint(b[1:])
	created, m := binary.Varint(b[1+max(n, 0):])
	if n <= 0 || m <= 0 {
		return l.seal.Damaged(store.Meta, metaIdentity, "it ends too early")
	}
	l.tag, l.created = extid.Tag(tag), created
	l.seal.Tag = tag
	l.r = commit.Prove(l.r, envelope{l.seal})
	return nil
}

// scan verifies and hands out all of a space from a key on.
func (l *loaded) scan(space store.Space, from, to []byte, fn func(k, payload []byte) error) error {
	var bad error
	n := 0
	err := l.r.Scan(space, from, to, func(k, sealed []byte) bool {
		if n++; n%1024 == 0 && l.ctx.Err() != nil {
			bad = l.ctx.Err()
			return false
		}
		payload, err := l.seal.Open(space, k, sealed)
		if err == nil {
			err = fn(k, payload)
		}
		bad = err
		return err == nil
	})
	if bad != nil {
		return bad
	}
	return err
}

func (l *loaded) names() (*catalog.Catalog, error) {
	var names catalog.Load
	err := l.scan(store.Names, nil, nil, func(k, payload []byte) error {
		if err := names.Add(k, string(payload)); err != nil {
			return l.seal.Damaged(store.Names, k, err.Error())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := names.Done()
	if c.Name(catalog.Key, uint32(idKey)) != "id" {
		return nil, l.seal.Damaged(store.Names, catalog.StoreKey(catalog.Key, uint32(idKey)), "the name id is missing")
	}
	return c, nil
}

// meta reads the marks and the graves.
func (l *loaded) meta() error {
	for _, m := range []struct {
		key []byte
		to  *uint64
	}{{metaNodeMark, &l.state.marks.node}, {metaEdgeMark, &l.state.marks.edge}} {
		sealed, err := l.r.Get(store.Meta, m.key)
		if err != nil {
			return err
		}
		if sealed == nil {
			return l.seal.Damaged(store.Meta, m.key, "it is missing")
		}
		payload, err := l.seal.Open(store.Meta, m.key, sealed)
		if err != nil {
			return err
		}
		v, n := binary.Uvarint(payload)
		if n != len(payload) {
			return l.seal.Damaged(store.Meta, m.key, "it is not a number")
		}
		*m.to = v
	}
	l.graves = map[value.NodeID]bool{}
	return l.scan(store.Meta, metaGraves, key.After(metaGraves), func(k, _ []byte) error {
		id, ok := key.ParseUint(bytes.TrimPrefix(k, metaGraves))
		if !ok {
			return l.seal.Damaged(store.Meta, k, "it names no node")
		}
		l.graves[value.NodeID(id)] = true
		return nil
	})
}

// anyTopology takes the topology from its file, or else builds it.
func (l *loaded) anyTopology(place place) (err error) {
	if v := l.snapshot(place); v != nil {
		l.state.topo = v
		l.last.node, l.last.edge = v.LastIDs()
		return nil
	}
	if l.state.topo, err = l.topology(); err != nil {
		return err
	}
	return l.lastCounts(l.state.topo)
}

// topology builds the topology from the records.
func (l *loaded) topology() (*topo.Version, error) {
	b := topo.NewBuilder(topo.Config{Columns: l.opts.HotColumns})
	if err := l.loadNodes(b); err != nil {
		return nil, err
	}
	if err := l.loadEdges(b); err != nil {
		return nil, err
	}
	return l.learned(b.Build(uint64(l.r.Seq())))
}

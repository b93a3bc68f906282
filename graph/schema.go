package graph

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/schema"
	"engram/graph/value"
)

// metaSchema begins the keys of definitions in the meta space; their id follows.
var metaSchema = []byte("graph/schema/")

// metaCounts begins the keys of the statistics of indexes; the id of the index
// follows.
var metaCounts = []byte("graph/counts/")

func schemaKey(id uint64) []byte { return key.Uint(slices.Clone(metaSchema), id) }

// storedDef is a definition as it is stored. The names of its fields are part of
// the file format.
type storedDef struct {
	Name  string        `json:"name"`
	Kind  schema.Kind   `json:"kind"`
	Edge  bool          `json:"edge,omitempty"`
	Owner uint32        `json:"owner"`          // label or type
	Also  []uint32      `json:"also,omitempty"` // further labels of a full-text index
	Keys  []value.KeyID `json:"keys"`
	State schema.State  `json:"state"`
	// After is up to which element the entries are there, while populating.
	After uint64 `json:"after,omitempty"`
}

// indexDef is a definition with its names resolved. It never changes.
type indexDef struct {
	*schema.Def
	storedDef storedDef
	keys      []value.KeyID
	owner     uint32
	owners    []value.LabelID // of a full-text index: owner and also
}

// counts are the statistics of one index.
type counts64 struct{ entries, distinct int64 }

// schemaTable is one version of the definitions.
type schemaTable struct {
	set   *schema.Set // without those that are being dropped
	defs  []*indexDef // all, by id
	nodes map[value.LabelID][]*indexDef
	edges map[value.TypeID][]*indexDef
	// texts are the full-text indexes, which nodes does not have.
	texts textDefs
	// version grows with every change.
	version uint64
}

var noSchema = &schemaTable{}

// with returns the table with a definition in it, in place of one with its id.
func (t *schemaTable) with(d *indexDef) *schemaTable {
	defs := slices.DeleteFunc(slices.Clone(t.defs), func(o *indexDef) bool { return o.ID == d.ID })
	return newSchemaTable(append(defs, d), t.version+1)
}

func (t *schemaTable) without(id uint64) *schemaTable {
	defs := slices.DeleteFunc(slices.Clone(t.defs), func(o *indexDef) bool { return o.ID == id })
	return newSchemaTable(defs, t.version+1)
}

func newSchemaTable(defs []*indexDef, version uint64) *schemaTable {
	slices.SortFunc(defs, func(a, b *indexDef) int { return compareIDs(a.ID, b.ID) })
	t := &schemaTable{
		defs: defs, version: version,
		nodes: map[value.LabelID][]*indexDef{}, edges: map[value.TypeID][]*indexDef{},
	}
	var seen []*schema.Def
	for _, d := range defs {
		if d.Kind == schema.FullText {
			t.texts = append(t.texts, d)
		}
		if d.State == schema.Dropping {
			continue
		}
		seen = append(seen, d.Def)
		switch {
		case d.Kind == schema.FullText:
		case d.Edge:
			t.edges[value.TypeID(d.owner)] = append(t.edges[value.TypeID(d.owner)], d)
		default:
			t.nodes[value.LabelID(d.owner)] = append(t.nodes[value.LabelID(d.owner)], d)
		}
	}
	t.set = schema.NewSet(seen...)
	return t
}

func (t *schemaTable) byID(id uint64) *indexDef {
	i, ok := slices.BinarySearchFunc(t.defs, id, func(d *indexDef, id uint64) int { return compareIDs(d.ID, id) })
	if !ok {
		return nil
	}
	return t.defs[i]
}

// resolve makes a definition of what is stored.
func resolveDef(id uint64, s storedDef, names *catalog.Catalog) (*indexDef, error) {
	class := catalog.Label
	if s.Edge {
		class = catalog.RelType
	}
	d := &schema.Def{ID: id, Name: s.Name, Kind: s.Kind, Edge: s.Edge, Owner: names.Name(class, s.Owner), State: s.State}
	owners := []value.LabelID{value.LabelID(s.Owner)}
	for _, l := range s.Also {
		owners = append(owners, value.LabelID(l))
		d.Also = append(d.Also, names.Name(class, l))
	}
	for _, k := range s.Keys {
		d.Keys = append(d.Keys, names.Name(catalog.Key, uint32(k)))
	}
	if slices.Contains(d.Owners(), "") || slices.Contains(d.Keys, "") || len(d.Keys) == 0 {
		return nil, fmt.Errorf("it names a label, type or property that is not there")
	}
	return &indexDef{Def: d, storedDef: s, keys: s.Keys, owner: s.Owner, owners: owners}, nil
}

// put makes the change of the store that keeps a definition.
func (d *indexDef) put(seal record.Sealer) (store.Put, error) {
	payload, err := json.Marshal(d.storedDef)
	if err != nil {
		return store.Put{}, fail(Internal, "definition %s cannot be stored: %v", d.Name, err)
	}
	k := schemaKey(d.ID)
	return store.Put{Space: store.Meta, Key: k, Value: seal.Seal(store.Meta, k, payload)}, nil
}

// schema reads the definitions and the statistics of their indexes.
func (l *loaded) schema() error {
	l.state.schema, l.state.counts = noSchema, map[uint64]counts64{}
	var defs []*indexDef
	err := l.scan(store.Meta, metaSchema, key.After(metaSchema), func(k, payload []byte) error {
		var s storedDef
		id, ok := key.ParseUint(k[len(metaSchema):])
		err := json.Unmarshal(payload, &s)
		if !ok || err != nil {
			return l.seal.Damaged(store.Meta, k, fmt.Sprintf("it is no definition of an index: %v", err))
		}
		d, err := resolveDef(id, s, l.state.names)
		if err != nil {
			return l.seal.Damaged(store.Meta, k, err.Error())
		}
		defs = append(defs, d)
		return nil
	})
	if err != nil || len(defs) == 0 {
		return err
	}
	l.state.schema = newSchemaTable(defs, 1)
	for _, d := range defs {
		if !d.Indexed() {
			continue
		}
		c, err := l.storedCounts(d)
		if err != nil {
			return err
		}
		l.state.counts[d.ID] = c
	}
	return nil
}

// storedCounts reads the statistics of an index.
func (l *loaded) storedCounts(d *indexDef) (c counts64, err error) {
	k := countsKey(d.ID)
	sealed, err := l.r.Get(store.Meta, k)
	if err != nil {
		return c, err
	}
	if sealed == nil {
		return l.count(d)
	}
	payload, err := l.seal.Open(store.Meta, k, sealed)
	if err != nil {
		return c, err
	}
	entries, n := binary.Uvarint(payload)
	distinct, m := binary.Uvarint(payload[max(n, 0):])
	if n <= 0 || m <= 0 || n+m != len(payload) {
		return c, l.seal.Damaged(store.Meta, k, "it is not two numbers")
	}
	return counts64{int64(entries), int64(distinct)}, nil
}

func countsKey(id uint64) []byte { return key.Uint(slices.Clone(metaCounts), id) }

// countPuts appends the statistics that differ from those of the base.
func countPuts(puts []store.Put, seal record.Sealer, base, counts map[uint64]counts64) []store.Put {
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		c := counts[id]
		if old, ok := base[id]; ok && old == c {
			continue
		}
		k := countsKey(id)
		payload := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(c.entries)), uint64(c.distinct))
		puts = append(puts, store.Put{Space: store.Meta, Key: k, Value: seal.Seal(store.Meta, k, payload)})
	}
	for _, id := range slices.Sorted(maps.Keys(base)) {
		if _, ok := counts[id]; !ok {
			puts = append(puts, store.Put{Space: store.Meta, Key: countsKey(id)})
		}
	}
	return puts
}

// count reads all of an index.
func (l *loaded) count(d *indexDef) (c counts64, err error) {
	prefix := d.prefix()
	var last []byte
	err = l.scan(store.Index, prefix, key.After(prefix), func(k, _ []byte) error {
		val := valuePart(k)
		if c.entries == 0 || string(val) != string(last) {
			c.distinct++
			last = append(last[:0], val...)
		}
		c.entries++
		return nil
	})
	return c, err
}

// prefix begins the keys of all entries of an index.
func (d *indexDef) prefix() []byte {
	return binary.BigEndian.AppendUint64([]byte{indexDeclared}, d.ID)
}

// valuePart is the key of an entry without the element at its end.
func valuePart(k []byte) []byte { return k[:len(k)-8] }

// Schema returns the indexes and constraints as the transaction sees them.
func (tx *Tx) Schema() *schema.Set { return tx.schema.set }

// IndexCounts returns how many entries an index has and how many different
// values, as of the transaction's base.
func (tx *Tx) IndexCounts(id uint64) (entries, distinct int64) {
	c := tx.base.counts[id]
	return c.entries, c.distinct
}

// added returns counts with changes added to them.
func addCounts(base, delta map[uint64]counts64) map[uint64]counts64 {
	if len(delta) == 0 {
		return base
	}
	out := maps.Clone(base)
	for id, d := range delta {
		c := out[id]
		out[id] = counts64{c.entries + d.entries, c.distinct + d.distinct}
	}
	return out
}

package text

import (
	index "github.com/blevesearch/bleve_index_api"
)

// zapDoc hands an analysed document to the index on disk: what to index and one
// stored field, no text, no positions, no column values.
type zapDoc struct {
	id     string
	fields []index.Field
}

// zapField is an analysed field.
type zapField struct {
	name    string
	value   []byte
	length  int
	freqs   index.TokenFrequencies
	options index.FieldIndexingOptions
}

func newZapDoc(d *document, fields []Field) *zapDoc {
	out := &zapDoc{id: docID(d.node)}
	for _, f := range d.fields {
		freqs := make(index.TokenFrequencies, len(f.terms))
		for _, t := range f.terms {
			tf := &index.TokenFreq{Term: []byte(t.term)}
			tf.SetFrequency(int(t.freq))
			freqs[t.term] = tf
		}
		out.fields = append(out.fields, &zapField{
			name: fields[f.field].Name, length: int(f.length), freqs: freqs, options: index.IndexField,
		})
	}
	out.fields = append(out.fields, &zapField{
		name: lengthsField, value: appendLengths(nil, d.lengths(len(fields))), options: index.StoreField,
	})
	return out
}

func (d *zapDoc) ID() string                                 { return d.id }
func (d *zapDoc) Size() int                                  { return 64 * len(d.fields) }
func (d *zapDoc) VisitComposite(index.CompositeFieldVisitor) {}
func (d *zapDoc) HasComposite() bool                         { return false }
func (d *zapDoc) NumPlainTextBytes() uint64                  { return 0 }
func (d *zapDoc) StoredFieldsBytes() uint64                  { return 0 }
func (d *zapDoc) Indexed() bool                              { return true }

// VisitFields calls visitor for every field.
func (d *zapDoc) VisitFields(visitor index.FieldVisitor) {
	for _, f := range d.fields {
		visitor(f)
	}
}

// AddIDField is called once by the index before it reads the fields. The id has
// to come first.
func (d *zapDoc) AddIDField() {
	tf := &index.TokenFreq{Term: []byte(d.id)}
	tf.SetFrequency(1)
	d.fields = append([]index.Field{&zapField{
		name: "_id", value: []byte(d.id), length: 1,
		freqs: index.TokenFrequencies{d.id: tf}, options: index.IndexField | index.StoreField,
	}}, d.fields...)
}

func (f *zapField) Name() string                                     { return f.name }
func (f *zapField) Value() []byte                                    { return f.value }
func (f *zapField) ArrayPositions() []uint64                         { return nil }
func (f *zapField) EncodedFieldType() byte                           { return 't' }
func (f *zapField) Analyze()                                         {}
func (f *zapField) Options() index.FieldIndexingOptions              { return f.options }
func (f *zapField) AnalyzedLength() int                              { return f.length }
func (f *zapField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.freqs }
func (f *zapField) NumPlainTextBytes() uint64                        { return 0 }

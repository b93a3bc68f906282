package graph

import (
	"encoding/binary"
	"fmt"

	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
)

// logPiece is how many bytes of a log entry one key holds. A longer entry is cut
// over several keys: the page that ends with a large value would be written
// again, all of it, by each of the next commits.
const logPiece = 1800

// logPuts appends the log entry of a transaction; nil stands for an empty one.
// The first piece is under the seq, the others under the seq and their number.
func (db *DB) logPuts(puts []store.Put, seq store.Seq, e *logentry.Entry) ([]store.Put, error) {
	if e == nil {
		e = &logentry.Entry{}
	}
	payload, err := logentry.Append(nil, e)
	if err != nil {
		return nil, wrap(err)
	}
	db.logged.Add(uint64(len(payload)))
	for part := 0; part == 0 || len(payload) > 0; part++ {
		k := key.Uint(make([]byte, 0, 12), uint64(seq))
		if part > 0 {
			k = binary.BigEndian.AppendUint32(k, uint32(part))
		}
		n := min(logPiece, len(payload))
		puts = append(puts, store.Put{Space: store.Log, Key: k, Value: db.seal.Seal(store.Log, k, payload[:n])})
		payload = payload[n:]
	}
	return puts, nil
}

// logReader joins the pieces of log entries that a scan hands out in order.
type logReader struct {
	seal record.Sealer
	fn   func(seq store.Seq, e *logentry.Entry) error
	seq  uint64
	part uint32
	buf  []byte
	any  bool
}

// piece takes the next key and its sealed value.
func (r *logReader) piece(k, sealed []byte) error {
	payload, err := r.seal.Open(store.Log, k, sealed)
	if err != nil {
		return err
	}
	if len(k) == 8 {
		if err := r.flush(); err != nil {
			return err
		}
		r.seq, r.part, r.any = binary.BigEndian.Uint64(k), 0, true
		r.buf = append(r.buf[:0], payload...)
		return nil
	}
	r.part++
	if len(k) != 12 || !r.any || binary.BigEndian.Uint64(k) != r.seq || binary.BigEndian.Uint32(k[8:]) != r.part {
		return r.seal.Damaged(store.Log, k, fmt.Sprintf("it is not part %d of entry %d", r.part, r.seq))
	}
	r.buf = append(r.buf, payload...)
	return nil
}

// flush hands out the entry that is complete.
func (r *logReader) flush() error {
	if !r.any {
		return nil
	}
	r.any = false
	e, err := logentry.Decode(r.buf)
	if err != nil {
		return r.seal.Damaged(store.Log, key.Uint(nil, r.seq), err.Error())
	}
	return r.fn(store.Seq(r.seq), e)
}

// readLog hands out the log entries behind a seq, in order.
func readLog(src source, seal record.Sealer, after store.Seq, fn func(seq store.Seq, e *logentry.Entry) error) error {
	return (&logReader{seal: seal, fn: fn}).all(src, after)
}

func (r *logReader) all(src source, after store.Seq) error {
	var bad error
	err := src.Scan(store.Log, key.Uint(nil, uint64(after)+1), nil, func(k, sealed []byte) bool {
		bad = r.piece(k, sealed)
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	if err == nil {
		err = r.flush()
	}
	return err
}

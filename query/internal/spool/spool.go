// Package spool keeps the rows of a result that is read later: the first ones in
// memory, the others in a temporary file, so that a result may be larger than
// memory and no transaction stays open while it is read.
package spool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"engram/graph/value"
	"engram/query/internal/fault"
)

const (
	// held is how many bytes of rows stay in memory before a file is made.
	held = 1 << 20
	// frameSize is what a frame of the file grows to before it is written; a row
	// is never cut, so one may be larger.
	frameSize = 64 << 10
	// header is a frame's length and CRC32C, four bytes each.
	header = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Spool holds the rows of one result. It is filled by Append, then read by Next,
// once, and given back by Close. It is not safe for concurrent use.
type Spool struct {
	space *Space
	limit int64 // bytes of the file; negative: no bound

	rows [][]value.Value // the first rows
	size int64           // of rows, by an estimate
	n    int64           // rows in all

	file  File // nil while all rows are in memory
	frame []byte
	end   int64 // of what was written

	next int // of rows
	at   int64
	dec  decoder
	wide int // values of a row in the file
}

// Append adds rows of the same width, which the caller must not change
// afterwards. An error is a *fault.Error when the limit is reached, else an
// *IOError.
func (s *Spool) Append(rows [][]value.Value) error {
	for i, row := range rows {
		if s.file == nil && s.size < held {
			s.rows = append(s.rows, row)
			for _, v := range row {
				s.size += int64(v.Size())
			}
			continue
		}
		if err := s.write(rows[i:]); err != nil {
			return err
		}
		break
	}
	s.n += int64(len(rows))
	return nil
}

func (s *Spool) write(rows [][]value.Value) error {
	if s.file == nil {
		var err error
		if s.file, err = s.space.create(); err != nil {
			return err
		}
		s.frame = make([]byte, header, 2*frameSize)
	}
	for _, row := range rows {
		s.wide = len(row)
		for _, v := range row {
			s.frame = appendValue(s.frame, v)
		}
		if len(s.frame) >= frameSize {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the frame.
func (s *Spool) flush() error {
	body := s.frame[header:]
	if len(body) == 0 {
		return nil
	}
	if uint64(len(body)) > 1<<32-1 {
		return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted", "a row of the result is larger than 4 GiB")
	}
	if s.limit >= 0 && s.end+int64(len(s.frame)) > s.limit {
		return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
			"the rows of the result exceeded the limit of their temporary file, %d bytes", s.limit)
	}
	binary.LittleEndian.PutUint32(s.frame, uint32(len(body)))
	binary.LittleEndian.PutUint32(s.frame[4:], crc32.Checksum(body, castagnoli))
	if _, err := s.file.WriteAt(s.frame, s.end); err != nil {
		return &IOError{Dir: s.space.dir, Op: "writing", Err: err}
	}
	s.end += int64(len(s.frame))
	s.frame = s.frame[:header]
	if cap(s.frame) > 16*frameSize { // a giant row passed through
		s.frame = make([]byte, header, 2*frameSize)
	}
	return nil
}

// Len returns how many rows there are, those that were read included.
func (s *Spool) Len() int64 { return s.n }

// Next returns the next row, which belongs to the caller, and io.EOF behind the
// last one.
func (s *Spool) Next() ([]value.Value, error) {
	if s.next < len(s.rows) {
		row := s.rows[s.next]
		s.rows[s.next] = nil
		s.next++
		return row, nil
	}
	if s.file == nil {
		return nil, io.EOF
	}
	if len(s.dec.Rest) == 0 {
		if err := s.load(); err != nil {
			return nil, err
		}
	}
	row := make([]value.Value, s.wide)
	for i := range row {
		row[i] = s.dec.value()
	}
	if s.dec.Err != nil {
		return nil, s.failed(s.dec.Err)
	}
	return row, nil
}

// load reads the next frame into the decoder.
func (s *Spool) load() error {
	if len(s.frame) > header { // the last rows have not been written yet
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.at >= s.end {
		return io.EOF
	}
	var head [header]byte
	if _, err := s.file.ReadAt(head[:], s.at); err != nil {
		return s.failed(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > s.end-s.at-header {
		return s.failed(errDamaged)
	}
	body := s.frame[:0]
	if int64(cap(body)) < n {
		body = make([]byte, 0, n)
	}
	body = body[:n]
	if _, err := s.file.ReadAt(body, s.at+header); err != nil {
		return s.failed(err)
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return s.failed(errDamaged)
	}
	s.at += header + n
	s.dec.Rest, s.dec.Short = body, errDamaged
	s.frame = body[:0]
	return nil
}

func (s *Spool) failed(err error) error {
	return &IOError{Dir: s.space.dir, Op: "reading", Err: err}
}

// Close lets go of the rows and of the file. It may be called again.
func (s *Spool) Close() error {
	f := s.file
	s.rows, s.file, s.frame, s.dec.Rest = nil, nil, nil, nil
	if f == nil {
		return nil
	}
	if err := f.Close(); err != nil {
		return &IOError{Dir: s.space.dir, Op: "closing", Err: err}
	}
	return nil
}

// IOError is an error of the temporary file.
type IOError struct {
	Dir string // where the file is
	Op  string // "creating", "writing", "reading" or "closing"
	Err error
}

// Error says which file it was about.
func (e *IOError) Error() string {
	return fmt.Sprintf("%s the temporary file for the rows of a large result in %s: %v", e.Op, e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

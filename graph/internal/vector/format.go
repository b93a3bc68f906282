package vector

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"engram/graph/value"
)

// format is the version of what is on disk; any other is set aside and made anew.
//
//	1  first
const format = 1

const (
	manifestName = "MANIFEST"
	manifestMark = "engram vectors\n"
	fileMark     = "EGVF\x01\x00\x00\x00"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// manifest says what a space is and which files are it. It is stored as a line that
// names it, a line of JSON and the CRC-32C of that line.
type manifest struct {
	Format   int    `json:"format"`
	Model    string `json:"model"`
	Dim      int    `json:"dim"`
	Identity string `json:"identity"`
	Seq      uint64 `json:"seq"`   // everything up to it is in the files
	Next     int    `json:"next"`  // number of the newest file
	Files    []file `json:"files"` // oldest first
}

type file struct {
	Name  string `json:"name"`
	Count int    `json:"count"` // entries
	Sum   uint32 `json:"sum"`   // CRC-32C
}

func (m *manifest) encode() []byte {
	line, _ := json.Marshal(m) // cannot fail: numbers and strings
	return fmt.Appendf(nil, "%s%s\n%08x\n", manifestMark, line, crc32.Checksum(line, castagnoli))
}

func readManifest(dir string) (manifest, error) {
	var m manifest
	path := filepath.Join(dir, manifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("vectors: %w", err)
	}
	text, marked := strings.CutPrefix(string(data), manifestMark)
	line, sum, _ := strings.Cut(text, "\n")
	if !marked || sum != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(line), castagnoli)) {
		return m, fmt.Errorf("vectors: %s is damaged", path)
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return m, fmt.Errorf("vectors: %s is damaged: %w", path, err)
	}
	for _, f := range m.Files {
		if f.Name != filepath.Base(f.Name) || f.Count < 0 {
			return m, fmt.Errorf("vectors: %s is damaged", path)
		}
	}
	return m, nil
}

// An entry on disk: node, seq, scale, kind, and a byte a dimension for a vector;
// numbers little-endian.
const entryHead = 8 + 8 + 4 + 1

func encodeFile(entries []entry, dim int) []byte {
	out := make([]byte, 0, len(fileMark)+len(entries)*(entryHead+dim))
	out = append(out, fileMark...)
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint64(out, uint64(e.node))
		out = binary.LittleEndian.AppendUint64(out, e.seq)
		out = binary.LittleEndian.AppendUint32(out, e.code.scale)
		out = append(out, byte(e.kind))
		if e.kind == isVector {
			for _, c := range e.code.codes {
				out = append(out, byte(c))
			}
		}
	}
	return out
}

var errFile = errors.New("damaged")

func readFile(dir string, f file, dim int) ([]entry, error) {
	path := filepath.Join(dir, f.Name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	if crc32.Checksum(data, castagnoli) != f.Sum {
		return nil, fmt.Errorf("vectors: %s: %w", path, errFile)
	}
	entries, err := decodeFile(data, f.Count, dim)
	if err != nil {
		return nil, fmt.Errorf("vectors: %s: %w", path, err)
	}
	return entries, nil
}

func decodeFile(data []byte, count, dim int) ([]entry, error) {
	rest, ok := bytes.CutPrefix(data, []byte(fileMark))
	if !ok || count > len(rest)/entryHead {
		return nil, errFile
	}
	entries := make([]entry, count)
	for i := range entries {
		if len(rest) < entryHead {
			return nil, errFile
		}
		e := &entries[i]
		e.node, e.seq = value.NodeID(binary.LittleEndian.Uint64(rest)), binary.LittleEndian.Uint64(rest[8:])
		e.code.scale, e.kind = binary.LittleEndian.Uint32(rest[16:]), kind(rest[20])
		rest = rest[entryHead:]
		switch {
		case e.kind > isPending, e.kind == isVector && (len(rest) < dim || e.code.scale == 0):
			return nil, errFile
		case e.kind == isVector:
			e.code.codes = make([]int8, dim)
			for j := range e.code.codes {
				c := int8(rest[j])
				e.code.codes[j] = c
				e.code.norm += uint32(int(c) * int(c))
			}
			rest = rest[dim:]
		}
	}
	if len(rest) > 0 {
		return nil, errFile
	}
	return entries, nil
}

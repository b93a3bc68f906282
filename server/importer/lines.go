package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of input, in bytes.
const maxLine = 16 << 20

// eachLine calls fn for every line that is not blank, with its number from 1 and
// the bytes read so far. A byte order mark and CRLF are taken.
func eachLine(r io.Reader, fn func(line int, text []byte, read int64) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	var read int64
	for line := 1; s.Scan(); line++ {
		text := s.Bytes()
		read += int64(len(text)) + 1
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if err := fn(line, text, read); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d MiB", maxLine>>20)
	}
	return s.Err()
}

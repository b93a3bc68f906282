package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxLine bounds one line of input, in bytes.
const maxLine = 16 << 20

var errNotUTF8 = errors.New("the text is not UTF-8; convert the file first")

// eachLine calls fn for every line that is not blank, with its number from 1 and
// the bytes read so far. A byte order mark and CRLF are taken.
func eachLine(r io.Reader, fn func(line int, text []byte, read int64) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	var read int64
	line := 1
	for ; s.Scan(); line++ {
		text := s.Bytes()
		read += int64(len(text)) + 1
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if !utf8.Valid(text) {
			return &LineError{line, errNotUTF8}
		}
		if err := fn(line, text, read); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return &LineError{line, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)}
	}
	return s.Err()
}

// decodeLine reads one JSON object; what names it in errors, fields are the ones
// it may have.
func decodeLine(text []byte, into any, what string, fields []string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			return fmt.Errorf("there is more behind the %s; write one JSON object a line", what)
		}
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %w (byte %d of the line)", err, syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not JSON: the line ends in the middle of an object")
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("want a JSON object, one %s a line, not a JSON %s", what, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("field %q: want %s, not a JSON %s", kind.Field, wanted(kind.Type), kind.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %s; a %s may have %s", name, what, strings.Join(fields, ", "))
	}
	return err
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Float64:
		return "a number"
	}
	return "another value"
}

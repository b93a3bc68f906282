package importer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"engram"
)

// columnKind says what the cells of a column become.
type columnKind uint8

const (
	kindText columnKind = iota
	kindInt
	kindFloat
	kindBool
	kindDateTime
	kindDate
	kindLocalDateTime
	kindTime
	kindLocalTime
	kindDuration
	kindInferred // until the first pass has seen the cells
	kindIgnored
)

var kindNames = map[string]columnKind{
	"int": kindInt, "long": kindInt, "integer": kindInt, "short": kindInt, "byte": kindInt,
	"float": kindFloat, "double": kindFloat, "boolean": kindBool, "bool": kindBool,
	"datetime": kindDateTime, "date": kindDate, "localdatetime": kindLocalDateTime,
	"time": kindTime, "localtime": kindLocalTime, "duration": kindDuration,
	"string": kindText, "char": kindText, "ignore": kindIgnored,
}

const knownKinds = "int, float, boolean, string, date, datetime, localdatetime, time, localtime and duration, and each with [] for a list divided by ;"

// column is one column of a CSV file: a role such as id or type, or a property, or
// both.
type column struct {
	role string // id, label, src, dst, type, or empty for a property
	name string // of the property; of the role if it is no property
	kind columnKind
	list bool
	seen columnKind // narrowest kind that fits all cells, while inferring
	any  bool       // a cell with content was seen
}

// roles by header: the plain ones and those of neo4j-admin.
var (
	nodeRoles = map[string]string{"id": "id", "label": "label", "labels": "label", ":id": "id", ":label": "label"}
	edgeRoles = map[string]string{"src": "src", "dst": "dst", "type": "type", ":start_id": "src", ":end_id": "dst", ":type": "type"}
)

// kept tells whether the cells become properties. An id column of a name of its
// own, as in personId:ID, is a property as well.
func (c *column) kept() bool {
	if c.role != "" {
		return c.name != c.role
	}
	return c.kind != kindIgnored
}

// parseHeaders reads the header line. needed are the roles that must be there.
func parseHeaders(header []string, roles map[string]string, needed []string) ([]column, error) {
	var columns []column
	have, names := map[string]bool{}, map[string]bool{}
	for i, cell := range header {
		if i == 0 {
			cell = strings.TrimPrefix(cell, "\ufeff")
		}
		if !utf8.ValidString(cell) {
			return nil, &LineError{1, errNotUTF8}
		}
		c, err := parseHeader(strings.TrimSpace(cell), roles)
		if err != nil {
			return nil, err
		}
		switch {
		case c.kind == kindIgnored:
		case c.role == "" && c.name == importedKey:
			return nil, fmt.Errorf("the property %q is what imports note for themselves: give the column another name, or the type :ignore", importedKey)
		case c.role != "" && have[c.role], names[c.name]:
			return nil, fmt.Errorf("the header names %q twice", c.name)
		}
		have[c.role], names[c.name] = true, c.kind != kindIgnored
		columns = append(columns, c)
	}
	for _, role := range needed {
		if have[role] {
			continue
		}
		err := fmt.Errorf("the header has no column %q; it has %s", role, strings.Join(header, ", "))
		if len(header) == 1 && strings.ContainsAny(header[0], ";\t|") {
			err = fmt.Errorf("%w (columns are divided by commas)", err)
		}
		return nil, err
	}
	return columns, nil
}

func parseHeader(cell string, roles map[string]string) (column, error) {
	if role, ok := roles[strings.ToLower(cell)]; ok {
		return column{role: role, name: role}, nil
	}
	name, suffix, typed := strings.Cut(cell, ":")
	suffix = strings.ToLower(suffix)
	if group := strings.IndexByte(suffix, '('); typed && group >= 0 {
		if _, ok := roles[":"+suffix[:group]]; ok {
			return column{}, fmt.Errorf("the header %q has an id group, which is not supported: make ids unique over all files and leave the group out", cell)
		}
	}
	if role, ok := roles[":"+suffix]; ok && typed {
		if name == "" || role != "id" {
			name = role
		}
		return column{role: role, name: name}, nil
	}
	if name == "" && suffix != "ignore" {
		return column{}, fmt.Errorf("the header %q names no property", cell)
	}
	if !typed {
		return column{name: name, kind: kindInferred, seen: kindInt}, nil
	}
	base, list := strings.CutSuffix(suffix, "[]")
	kind, ok := kindNames[base]
	if !ok || list && kind == kindIgnored {
		return column{}, fmt.Errorf("the header %q has an unknown type; known are %s", cell, knownKinds)
	}
	return column{name: name, kind: kind, list: list}, nil
}

// verify looks at one cell in the first pass and sets its role's.
func (c *column) verify(cell string, roles map[string]string) error {
	if c.role != "" {
		roles[c.role] = cell
	}
	switch {
	case !utf8.ValidString(cell):
		return errNotUTF8
	case c.kind == kindText, c.kind == kindIgnored, c.kind == kindInferred, c.isTime(), cell == "":
		return nil
	}
	_, err := c.value(cell)
	return err
}

// infer learns from a cell of a row that is understood.
func (c *column) infer(cell string) {
	if c.kind == kindInferred && cell != "" {
		c.narrow(cell)
	}
}

func (c *column) isTime() bool {
	return c.kind >= kindDateTime && c.kind <= kindDuration
}

// narrow widens the kind of an untyped column until it fits the cell.
func (c *column) narrow(cell string) {
	if !c.any {
		c.any = true
		if cell == "true" || cell == "false" {
			c.seen = kindBool
			return
		}
	}
	switch {
	case c.seen == kindInt && isInt(cell):
	case c.seen == kindInt && isFloat(cell):
		c.seen = kindFloat
	case c.seen == kindFloat && (isInt(cell) || isFloat(cell)):
	case c.seen == kindBool && (cell == "true" || cell == "false"):
	default:
		c.seen = kindText
	}
}

// settle ends inferring.
func (c *column) settle() {
	if c.kind != kindInferred {
		return
	}
	c.kind = c.seen
	if !c.any {
		c.kind = kindText
	}
}

// isInt reports whether an integer is written as it would be printed, so that
// reading it as a number loses nothing: 007 and +49 are no numbers but codes.
func isInt(cell string) bool {
	n, err := strconv.ParseInt(cell, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == cell
}

// isFloat takes decimal fractions and exponents, but no NaN, Inf, hexadecimal or
// leading zeros, nor integers that are too large for an integer.
func isFloat(cell string) bool {
	digits := strings.TrimPrefix(cell, "-")
	if digits == "" || !strings.ContainsAny(digits, ".eE") || strings.Trim(digits, "0123456789.eE+-") != "" {
		return false
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil
}

// value reads a cell that is not empty.
func (c *column) value(cell string) (engram.Value, error) {
	if !c.list {
		v, err := c.parse(cell)
		if err != nil {
			return engram.Value{}, err
		}
		return engram.ValueOf(v)
	}
	var items []any
	for part := range strings.SplitSeq(cell, ";") {
		v, err := c.parse(part)
		if err != nil {
			return engram.Value{}, err
		}
		items = append(items, v)
	}
	return engram.ValueOf(items)
}

func (c *column) parse(cell string) (any, error) {
	switch c.kind {
	case kindInt:
		n, err := strconv.ParseInt(cell, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("%q is too large for an integer of 64 bits", cell)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no integer", cell)
		}
		return n, nil
	case kindFloat:
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", cell)
		}
		return f, nil
	case kindBool:
		switch strings.ToLower(cell) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", cell)
	case kindDateTime:
		return parseTime(cell, engram.KindDateTime, engram.DateTimeOf)
	case kindLocalDateTime:
		return parseTime(cell, engram.KindLocalDateTime, engram.LocalDateTimeOf)
	case kindDate:
		return parseTime(cell, engram.KindDate, engram.DateOf)
	case kindTime:
		return parseTime(cell, engram.KindTime, nil)
	case kindLocalTime:
		return parseTime(cell, engram.KindLocalTime, nil)
	case kindDuration:
		return parseTime(cell, engram.KindDuration, nil)
	}
	return cell, nil
}

// parseTime reads a text of the kind itself, or any of the layouts of dates, and makes
// one kind of value of it, so that a typed column does not mix them. Without a zone it
// is UTC. Kinds without an of are no dates.
func parseTime(cell string, kind engram.Kind, of func(time.Time) engram.Value) (any, error) {
	cell = strings.TrimSpace(cell)
	if of == nil || !plainDate(cell) {
		if v, err := engram.ParseValue(kind, cell); err == nil {
			return v, nil
		}
	}
	for _, l := range dateLayouts {
		if of == nil {
			break
		}
		if t, err := time.Parse(l.layout, cell); err == nil {
			return of(t), nil
		}
	}
	return nil, fmt.Errorf("the %s %q is not understood", map[bool]string{true: "date", false: strings.ToLower(kind.String())}[of != nil], cell)
}

// plainDate reports whether a text is a day alone, which a column of instants takes.
func plainDate(cell string) bool { return len(cell) == len("2006-01-02") }

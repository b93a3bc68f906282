package engram

import (
	"fmt"
	"math"
	"strings"

	"engram/graph/value"
)

// ParseValue reads the text that Value.ToString and Value.AppendJSON write of a
// temporal value, or of a float: it makes a value of that kind. Other kinds are an
// error.
func ParseValue(kind Kind, text string) (Value, error) {
	v, err := parseValue(kind, text)
	if err != nil {
		return Value{}, &Error{Code: CodeInvalidArgument, Message: err.Error(), Err: err}
	}
	return v, nil
}

func parseValue(kind Kind, text string) (Value, error) {
	switch kind {
	case KindDate:
		v, err := value.ParseDate(text)
		return value.OfDate(v), err
	case KindLocalTime:
		v, err := value.ParseLocalTime(text)
		return value.OfLocalTime(v), err
	case KindTime:
		v, err := value.ParseTime(text)
		return value.OfTime(v), err
	case KindLocalDateTime:
		v, err := value.ParseLocalDateTime(text)
		return value.OfLocalDateTime(v), err
	case KindDateTime:
		v, err := value.ParseDateTime(text)
		return value.OfDateTime(v), err
	case KindDuration:
		v, err := value.ParseDuration(text)
		return value.OfDuration(v), err
	case KindFloat:
		f, ok := map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[strings.ToLower(text)]
		if ok {
			return value.Float(f), nil
		}
	}
	return Value{}, fmt.Errorf("%q is no %s that can be read from a text", text, kind)
}

package graphline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"engram"
)

// kinds are the names in $kind of what JSON lacks.
var kinds = map[string]engram.Kind{
	"date": engram.KindDate, "localtime": engram.KindLocalTime, "time": engram.KindTime, "localdatetime": engram.KindLocalDateTime,
	"datetime": engram.KindDateTime, "duration": engram.KindDuration, "float": engram.KindFloat,
}

var kindNames = func() map[engram.Kind]string {
	out := map[engram.Kind]string{}
	for name, k := range kinds {
		out[k] = name
	}
	return out
}()

// KindName is the name of a kind that JSON lacks, or empty.
func KindName(v engram.Value) string {
	if v.Kind() == engram.KindFloat {
		if f := v.AsFloat(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return ""
		}
	}
	return kindNames[v.Kind()]
}

// AppendValue appends a property's value as JSON from which it can be made again.
func AppendValue(dst []byte, v engram.Value) []byte {
	if v.Kind() == engram.KindList {
		dst = append(dst, '[')
		for i, e := range v.AsList() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, e)
		}
		return append(dst, ']')
	}
	name := KindName(v)
	if name == "" {
		return v.AppendJSON(dst)
	}
	dst = append(append(append(dst, `{"$kind":"`...), name...), `","value":`...)
	return append(v.AppendJSON(dst), '}')
}

// valueOf makes a property's value of decoded JSON.
func valueOf(x any) (engram.Value, error) {
	switch x := x.(type) {
	case json.Number:
		return numberOf(x)
	case []any:
		list := make([]engram.Value, len(x))
		for i, e := range x {
			if _, ok := e.([]any); ok || e == nil {
				return engram.Value{}, errors.New("a list holds neither lists nor null")
			}
			v, err := valueOf(e)
			if err != nil {
				return engram.Value{}, err
			}
			list[i] = v
		}
		return engram.ValueOf(list)
	case map[string]any:
		return kindOf(x)
	}
	return engram.ValueOf(x)
}

func numberOf(n json.Number) (engram.Value, error) {
	text := n.String()
	if !strings.ContainsAny(text, ".eE") {
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return engram.Value{}, fmt.Errorf("%s is too large for an integer of 64 bits; with a decimal point it is a float", text)
		}
		return engram.ValueOf(i)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return engram.Value{}, fmt.Errorf("%s is too large for a float", text)
	}
	return engram.ValueOf(f)
}

func kindOf(x map[string]any) (engram.Value, error) {
	name, _ := x["$kind"].(string)
	text, isText := x["value"].(string)
	kind, known := kinds[name]
	if !known || !isText || len(x) != 2 {
		names := make([]string, 0, len(kinds))
		for name := range kinds {
			names = append(names, name)
		}
		slices.Sort(names)
		return engram.Value{}, fmt.Errorf(`an object is no property: want a text, a number, a boolean, a list of them, or {"$kind", "value"} with the kind %s`, strings.Join(names, ", "))
	}
	return engram.ParseValue(kind, text)
}

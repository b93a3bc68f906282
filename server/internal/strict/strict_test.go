package strict

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type request struct {
	Statement  string         `json:"statement"`
	Parameters map[string]any `json:"parameters"`
	Limit      int            `json:"limit"`
	Links      []link         `json:"links"`
	Budget     *struct {
		Rows int `json:"rows"`
	} `json:"budget"`
}

type link struct {
	To     string  `json:"to"`
	Weight float64 `json:"weight"`
}

func TestDecode(t *testing.T) {
	var got request
	err := Decode([]byte(` {"statement":"RETURN $x","parameters":{"x":[1,2.5,{"a":null,"A":1}]},"links":[{"to":"b","weight":2},{"to":"c"}],"budget":{"rows":3}} `), &got)
	want := request{
		Statement: "RETURN $x", Parameters: map[string]any{"x": []any{json.Number("1"), json.Number("2.5"), map[string]any{"a": nil, "A": json.Number("1")}}},
		Links: []link{{"b", 2}, {"c", 0}},
	}
	if err != nil || got.Budget == nil || got.Budget.Rows != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Budget = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRefused(t *testing.T) {
	many := strings.Builder{}
	for i := range MaxKeys + 1 {
		many.WriteString(`,"k` + string(rune(0x4e00+i)) + `":1`)
	}
	for _, c := range []struct{ name, body, code, word string }{
		{"empty", "", InvalidJSON, "ends"},
		{"cut", `{"statement":"a`, InvalidJSON, ""},
		{"no JSON", `hello`, InvalidJSON, ""},
		{"trailing", `{} {}`, InvalidJSON, "behind the end"},
		{"trailing text", `{} x`, InvalidJSON, ""},
		{"unknown", `{"statement":"a","foo":1}`, UnknownField, `"foo"`},
		{"case", `{"Statement":"a"}`, UnknownField, "did you mean statement?"},
		{"kelvin sign", `{"linKs":[]}`, UnknownField, "did you mean links?"},
		{"long s", `{"ſtatement":"a"}`, UnknownField, "did you mean statement?"},
		{"zero byte", `{"statement\u0000":"a"}`, UnknownField, "unknown"},
		{"twice", `{"statement":"a","statement":"b"}`, DuplicateKey, `"statement"`},
		{"twice by escape", `{"statement":"a","stat\u0065ment":"b"}`, DuplicateKey, `"statement"`},
		{"twice in a parameter", `{"parameters":{"x":{"a":1,"a":2}}}`, DuplicateKey, `"a"`},
		{"unknown below", `{"links":[{"to":"a"},{"from":"b"}]}`, UnknownField, `"from"`},
		{"unknown below a pointer", `{"budget":{"row":1}}`, UnknownField, `"row"`},
		{"kind", `{"limit":"a"}`, InvalidJSON, `"limit" is a string: want a whole number`},
		{"fraction", `{"limit":1.5}`, InvalidJSON, `"limit"`},
		{"kind below", `{"links":[{"to":5}]}`, InvalidJSON, "want a text"},
		{"a list", `[]`, InvalidJSON, "want an object"},
		{"deep", strings.Repeat("[", 100_000), TooComplex, "deeper"},
		{"deep in a parameter", `{"parameters":{"x":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}}`, TooComplex, "deeper"},
		{"many keys", `{"parameters":{"x":1` + many.String() + `}}`, TooComplex, "keys"},
		{"many values", `{"parameters":{"x":[1` + strings.Repeat(",1", MaxValues) + `]}}`, TooComplex, "values"},
		{"not UTF-8", "{\"statement\":\"\xff\"}", InvalidJSON, "UTF-8"},
	} {
		err := Decode([]byte(c.body), new(request))
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.word) {
			t.Errorf("%s: %v, want %s with %q", c.name, err, c.code, c.word)
			continue
		}
		for _, slip := range []string{"Go ", "struct", "strict.", "json:"} {
			if strings.Contains(e.Message, slip) {
				t.Errorf("%s: %q shows %q", c.name, e.Message, slip)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"statement":"a"}`, `{"parameters":{"x":[1,{"a":2}]}}`, `{"links":[{"to":"b"}]}`, `[`, `{"a":}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got request
		if err := Decode(data, &got); err != nil {
			return
		}
		var loose request
		if err := json.Unmarshal(data, &loose); err != nil || loose.Statement != got.Statement {
			t.Errorf("%q: %v", data, err)
		}
	})
}

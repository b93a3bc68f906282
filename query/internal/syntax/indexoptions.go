package syntax

import (
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"
)

// providers are what others call the kinds of index that there are here. All of an
// index by properties are made the same way.
var providers = []string{"range-1.0", "native-btree-1.0", "text-1.0", "text-2.0", "fulltext-1.0"}

// indexOptions parses OPTIONS { } of an index or a constraint. What is there is
// accepted where it asks for what is done anyway.
func (p *parser) indexOptions() error {
	p.take()
	if !p.at("{") {
		return unexpected(p.peek(), "a map in { }")
	}
	e, err := p.mapLit()
	if err != nil {
		return err
	}
	options, ok := e.(*MapLit)
	if !ok {
		return fault.Syntax(unexpectedSyntax, e.At(), "options are written out, as in {indexProvider: 'range-1.0'}")
	}
	for i, k := range options.Keys {
		v := options.Values[i]
		switch {
		case strings.EqualFold(k.Text, "indexProvider"):
			if text := textOf(v); !slices.Contains(providers, text) {
				return fault.Unsupported(v.At(), "this provider of indexes").
					WithHint("Leave it out, or name one of %s.", strings.Join(providers, ", "))
			}
		case strings.EqualFold(k.Text, "indexConfig"):
			config, ok := v.(*MapLit)
			if !ok {
				return fault.Syntax(unexpectedSyntax, v.At(), "the configuration of an index is a map in { }")
			}
			if err := checkConfig(config); err != nil {
				return err
			}
		default:
			return fault.Unsupported(k.Span, "the option "+k.Text+" of an index").WithHint("There are indexProvider and indexConfig.")
		}
	}
	return nil
}

// checkConfig refuses a configuration that asks for anything else than there is.
func checkConfig(config *MapLit) error {
	for i, k := range config.Keys {
		switch k.Text {
		case "fulltext.analyzer":
			if !strings.EqualFold(textOf(config.Values[i]), "english") {
				return fault.Unsupported(config.Values[i].At(), "another analyzer of words than english")
			}
		case "fulltext.eventually_consistent": // a search finds what was committed, always
		default:
			return fault.Unsupported(k.Span, "the setting "+k.Text+" of an index")
		}
	}
	return nil
}

// textOf is the text of a literal, or "".
func textOf(e Expr) string {
	if l, ok := e.(*Literal); ok && l.Value.Kind() == value.KindString {
		return l.Value.AsString()
	}
	return ""
}

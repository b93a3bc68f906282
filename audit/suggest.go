package audit

import (
	"strings"
	"unicode"
)

// named writes the name of a type, label or property as a statement has it.
func named(name string) string {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
	}
	return name
}

package chatbridge

import (
	"os"
	"os/user"
	"slices"
	"strings"
)

// Operator is whose machine it is that tools work on. What is empty is not told.
type Operator struct {
	User    string
	Home    string // folder
	Machine string // its name
}

// thisOperator is the one this program runs as.
func thisOperator() *Operator {
	var o Operator
	if u, err := user.Current(); err == nil {
		o.User, o.Home = u.Username, u.HomeDir
	}
	o.Machine, _ = os.Hostname() // without a name none is told
	return &o
}

// touchesMachine tells whether a run is offered a tool for files or commands.
func (b *Bridge) touchesMachine(s *state) bool {
	return b.files != nil && !s.NoTools && slices.ContainsFunc(fileTools(), func(t tool) bool { return !slices.Contains(s.Without, t.name) })
}

// identity tells the model whose machine it touches. It is of a leg, as the tools that
// are offered are, and is not stored.
func (b *Bridge) identity(s *state) string {
	if !b.touchesMachine(s) {
		return ""
	}
	var parts []string
	for _, p := range [][2]string{{"the user ", b.o.Operator.User}, {"with the home folder ", b.o.Operator.Home}, {"on the machine ", b.o.Operator.Machine}} {
		if p[1] != "" {
			parts = append(parts, p[0]+oneLine(p[1], 200))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "\nTools work as " + strings.Join(parts, ", ") + ".\n"
}

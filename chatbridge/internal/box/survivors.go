package box

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Marked tells the processes that come of one program from all others, by a variable of
// its environment: they may have left its group, its session and their parents.
type Marked struct{ entry string }

var marks atomic.Int64

// NewMark makes a mark that no other program of this machine has now.
func NewMark() Marked {
	return Marked{"ENGRAM_COMMAND=" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(marks.Add(1), 10)}
}

// Env is what stands in the environment of the program.
func (m Marked) Env() string { return m.entry }

// Survivor is a process that a program left running.
type Survivor struct {
	PID  int
	Name string // its command, what is invisible escaped
	// Ended: it runs no more.
	Ended bool

	group   int
	started string // by which a process is told from a later one of its number
}

const maxNamed = 10

// told is what a person and a model are told of survivors; empty for none.
func told(all []Survivor) string {
	var out strings.Builder
	for _, ended := range []bool{true, false} {
		var names []string
		for _, s := range all {
			if s.Ended == ended {
				names = append(names, fmt.Sprintf("%s (process %d)", s.Name, s.PID))
			}
		}
		if len(names) == 0 {
			continue
		}
		more := ""
		if n := len(names) - maxNamed; n > 0 {
			names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		what := "outlived the command and were ended"
		if !ended {
			what = "outlived the command and could not be ended"
		}
		fmt.Fprintf(&out, "\n[processes that %s: %s%s]", what, strings.Join(names, ", "), more)
	}
	return out.String()
}

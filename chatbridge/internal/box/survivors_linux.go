package box

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seen is a process as /proc tells of it.
type seen struct {
	pid, parent, group, session int
	started                     string
	marked                      bool
}

// read reads what there is to know of a process; false: it is none, or has ended.
func (m Marked) read(pid int) (seen, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return seen{}, false
	}
	// The name stands in brackets, and may hold brackets.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return seen{}, false
	}
	p := seen{pid: pid, started: fields[19]}
	p.parent, _ = strconv.Atoi(fields[1]) // the kernel writes numbers
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	env, _ := os.ReadFile(filepath.Join(dir, "environ")) // of another user: not to be read
	p.marked = slices.Contains(strings.Split(string(env), "\x00"), m.entry)
	return p, true
}

// find finds the processes that come of a program, but not itself: those with its mark, in
// its group or session, and what any of them started; while it is there, also its children.
func (m Marked) find(program int, there bool) []Survivor {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []seen
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			if p, ok := m.read(pid); ok {
				all = append(all, p)
			}
		}
	}
	known := map[int]bool{}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			own := p.marked || p.group == program || p.session == program || there && p.parent == program
			if p.pid != program && !known[p.pid] && (own || known[p.parent] || known[p.group] || known[p.session]) {
				known[p.pid], grew = true, true
			}
		}
	}
	var out []Survivor
	for _, p := range all {
		if known[p.pid] {
			out = append(out, Survivor{PID: p.pid, Name: nameOf(p.pid), group: p.group, started: p.started})
		}
	}
	return out
}

// nameOf is the command of a process, for people.
func nameOf(pid int) string {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	name := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	if name == "" {
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		name = strings.TrimSpace(string(comm))
	}
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	return strings.ReplaceAll(Visible(name), "\n", " ")
}

const (
	sweeps    = 8 // what forks faster than it is ended survives
	sweepWait = 5 * time.Millisecond
)

// End ends what came of a program and still runs, and tells of it. What was found before,
// while its parents were there, is ended too.
func (m Marked) End(program int, before []Survivor) []Survivor {
	var all []Survivor
	for range sweeps {
		found := m.find(program, false)
		for _, s := range slices.Concat(before, found) {
			if !slices.ContainsFunc(all, func(o Survivor) bool { return o.PID == s.PID && o.started == s.started }) && m.runs(s) {
				all = append(all, s)
			}
		}
		left := false
		for i := range all {
			if all[i].Ended = !m.runs(all[i]); !all[i].Ended {
				kill(all[i])
				left = true
			}
		}
		if !left && len(found) == 0 {
			break
		}
		time.Sleep(sweepWait) // for the kernel to end them
	}
	for i := range all {
		all[i].Ended = !m.runs(all[i])
	}
	return all
}

func (m Marked) runs(s Survivor) bool {
	p, ok := m.read(s.PID)
	return ok && p.started == s.started
}

// kill ends a process by a handle, so that no later one of its number is.
func kill(s Survivor) {
	p, err := os.FindProcess(s.PID)
	if err != nil {
		return
	}
	defer p.Release() // never fails
	if now, ok := (Marked{}).read(s.PID); ok && now.started == s.started {
		_ = p.Kill() // whether it ended is looked at
	}
}

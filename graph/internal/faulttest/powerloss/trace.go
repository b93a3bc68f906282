package powerloss

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// calls are the system calls that the log must have.
const calls = "openat,open,creat,close,dup,dup2,dup3,fcntl,write,pwrite64,writev,pwritev,pwritev2,lseek," +
	"fsync,fdatasync,sync_file_range,ftruncate,truncate,fallocate,rename,renameat,renameat2,unlink,unlinkat,rmdir," +
	"mkdir,mkdirat,link,linkat,symlink,symlinkat,copy_file_range,sendfile"

// Strace returns the command line that runs a program so that its log can be
// read. inject, when not empty, is a list of strace's --inject expressions.
func Strace(log string, inject []string, program ...string) []string {
	args := []string{
		"strace", "-f", "-qq", "-xx", "-s", "67108864", "-e", "signal=none", "-o", log,
		"-e", "trace=" + calls,
	}
	for _, i := range inject {
		args = append(args, "-e", "inject="+i)
	}
	return append(args, program...)
}

// Recorder reads a directory before a process is started.
type Recorder struct {
	root string
	p    parser
}

// Record notes how root, an absolute path, is before the process starts.
func Record(root string) (*Recorder, error) {
	r := &Recorder{root: root}
	r.p = parser{root: root, next: rootInode, fds: map[string]*handle{}, waiting: map[string]waiting{}, log: &Log{kinds: map[int]bool{}}}
	var err error
	if r.p.log.base, err = readDisk(root, &r.p.next, r.p.log.kinds); err != nil {
		return nil, err
	}
	r.p.now = r.p.log.base.fork()
	for inode := range r.p.now.files {
		r.p.now.files[inode] = append([]byte(nil), r.p.now.files[inode]...)
	}
	return r, nil
}

// Read reads the strace log of the process, which has ended, and compares what
// the log adds up to with what is in the directory: a difference means that the
// log, or its reading, is not complete.
func (r *Recorder) Read(log string) (*Log, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	in := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.p.line(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", log, n, err)
		}
	}
	next := rootInode
	after, err := readDisk(r.root, &next, map[int]bool{})
	if err != nil {
		return nil, err
	}
	if diff := r.p.now.difference(after); diff != "" {
		return nil, fmt.Errorf("the log %s does not add up to what is in %s: %s", log, r.root, diff)
	}
	return r.p.log, nil
}

// handle is an open file or directory below the root.
type handle struct {
	inode  int
	offset int64
	append bool
}

// waiting is a call that has not returned.
type waiting struct {
	text  string
	begun int // events before it
}

type parser struct {
	root    string
	next    int // last inode given
	fds     map[string]*handle
	waiting map[string]waiting // by thread
	now     *disk
	log     *Log
}

// line takes in a line: a whole call, the begin of one or the end of one.
func (p *parser) line(line string) error {
	thread, text, ok := strings.Cut(line, " ")
	if !ok {
		return nil
	}
	text = strings.TrimLeft(text, " ")
	begun := len(p.log.events)
	if at := strings.Index(text, " <unfinished ...>"); at >= 0 {
		p.waiting[thread] = waiting{text[:at], begun}
		return nil
	}
	if rest, ok := strings.CutPrefix(text, "<... "); ok {
		_, rest, _ = strings.Cut(rest, " resumed>")
		w := p.waiting[thread]
		delete(p.waiting, thread)
		text, begun = w.text+rest, w.begun
	}
	name, rest, ok := strings.Cut(text, "(")
	at := strings.LastIndex(rest, ") ")
	if !ok || at < 0 || strings.Contains(rest[at:], "(INJECTED)") {
		return nil // not a call, or one that did not happen
	}
	_, result, ok := strings.Cut(rest[at:], "= ")
	if !ok || strings.HasPrefix(result, "-") || strings.HasPrefix(result, "?") {
		return nil
	}
	result, _, _ = strings.Cut(result, " ")
	n, err := strconv.ParseInt(result, 0, 64)
	if err != nil {
		return nil // a call without a number, as fcntl may give
	}
	return p.call(name, strings.Split(rest[:at], ", "), n, begun)
}

// call takes in a call that returned n, not an error. With -xx the strings have no
// commas, so the arguments are split right.
func (p *parser) call(name string, args []string, n int64, begun int) error {
	h := p.fds[args[0]]
	switch name {
	case "openat":
		return p.open(args, strconv.FormatInt(n, 10))
	case "close":
		delete(p.fds, args[0])
	case "write":
		return p.write(args, h, n)
	case "pwrite64":
		if h != nil {
			return p.data(h.inode, args[1], n, args[3])
		}
	case "lseek":
		if h != nil {
			h.offset = n
		}
	case "ftruncate":
		if h != nil {
			size, err := strconv.ParseInt(args[1], 10, 64)
			p.add(event{op: opSize, inode: h.inode, size: size})
			return err
		}
	case "fsync", "fdatasync":
		if h != nil {
			p.add(event{op: opSync, inode: h.inode, begun: begun})
		}
	case "mkdirat":
		return p.makeDir(args[0], args[1])
	case "unlinkat":
		return p.unlink(args[0], args[1])
	case "renameat", "renameat2":
		return p.rename(args)
	case "linkat":
		return p.link(args)
	case "copy_file_range":
		return p.copyRange(args, n)
	case "fcntl":
		if h != nil && strings.HasPrefix(args[1], "F_DUPFD") {
			p.fds[strconv.FormatInt(n, 10)] = h
		}
	default:
		if h != nil || strings.Contains(args[0], `"`) {
			return p.unknown(name, args)
		}
	}
	return nil
}

// unknown refuses a call that would change the directory in a way that is not
// modelled.
func (p *parser) unknown(name string, args []string) error {
	for _, a := range args {
		if strings.HasPrefix(a, `"`) {
			if path, err := unhex(a); err == nil && !p.inside(string(path)) {
				return nil
			}
		}
	}
	return fmt.Errorf("the call %s is not modelled", name)
}

func (p *parser) inside(path string) bool {
	return path == p.root || strings.HasPrefix(path, p.root+string(filepath.Separator))
}

func (p *parser) add(e event) {
	p.log.events = append(p.log.events, e)
	p.now.apply(&e, nil)
}

func (p *parser) write(args []string, h *handle, n int64) error {
	if args[0] == "1" {
		return p.message(args[1])
	}
	if h == nil {
		return nil
	}
	if h.append {
		h.offset = int64(len(p.now.files[h.inode]))
	}
	at := h.offset
	h.offset += n
	return p.data(h.inode, args[1], n, strconv.FormatInt(at, 10))
}

func (p *parser) data(inode int, text string, n int64, offset string) error {
	data, err := unhex(text)
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(offset, 10, 64)
	if err != nil || int64(len(data)) < n {
		return fmt.Errorf("a write of %d bytes at %s shows %d bytes", n, offset, len(data))
	}
	p.add(event{op: opWrite, inode: inode, offset: at, data: data[:n]})
	return nil
}

// message takes in what the process printed.
func (p *parser) message(text string) error {
	said, err := unhex(text)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(said)) {
		var n int
		if _, err := fmt.Sscanf(line, "ACK %d", &n); err == nil {
			p.add(event{op: opAck, n: n})
		} else if _, err := fmt.Sscanf(line, "BEGIN %d", &n); err == nil {
			p.add(event{op: opBegin, n: n})
		}
	}
	return nil
}

// unhex reads a string as strace prints it with -xx.
func unhex(text string) ([]byte, error) {
	inner, ok := strings.CutPrefix(text, `"`)
	inner, ok2 := strings.CutSuffix(inner, `"`)
	if !ok || !ok2 {
		return nil, fmt.Errorf("%.40s is not a whole string", text)
	}
	return hex.DecodeString(strings.ReplaceAll(inner, `\x`, ""))
}

package powerloss

import (
	"fmt"
	"path/filepath"
	"strings"
)

// locate finds a path's directory and last name. ok is false for what is not
// below the root.
func (p *parser) locate(dirfd, text string) (dir int, name string, ok bool, err error) {
	b, err := unhex(text)
	if err != nil {
		return 0, "", false, err
	}
	path := string(b)
	dir = rootInode
	switch {
	case filepath.IsAbs(path):
		if path == filepath.Dir(p.root) || !p.inside(path) {
			return 0, "", false, nil
		}
		path = strings.TrimPrefix(strings.TrimPrefix(path, p.root), string(filepath.Separator))
	case p.fds[dirfd] != nil:
		dir = p.fds[dirfd].inode
	default:
		return 0, "", false, nil
	}
	path = filepath.Clean(path)
	if path == "." {
		return dir, "", true, nil
	}
	parts := strings.Split(path, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		next, found := p.now.dirs[dir][part]
		if !found {
			return 0, "", false, fmt.Errorf("%s in %s is not known", part, path)
		}
		dir = next
	}
	return dir, parts[len(parts)-1], true, nil
}

// resolve returns the inode of a located name, 0 if there is none.
func (p *parser) resolve(dir int, name string) int {
	if name == "" {
		return dir
	}
	return p.now.dirs[dir][name]
}

func (p *parser) open(args []string, fd string) error {
	delete(p.fds, fd)
	dir, name, ok, err := p.locate(args[0], args[1])
	if !ok {
		return err
	}
	inode := p.resolve(dir, name)
	if inode == 0 {
		if !strings.Contains(args[2], "O_CREAT") {
			return fmt.Errorf("opened %s, which is not known", name)
		}
		p.next++
		inode = p.next
		p.log.kinds[inode] = false
		p.now.files[inode] = nil
		p.add(event{op: opLink, dir: dir, name: name, inode: inode})
	} else if strings.Contains(args[2], "O_TRUNC") {
		p.add(event{op: opSize, inode: inode})
	}
	p.fds[fd] = &handle{inode: inode, append: strings.Contains(args[2], "O_APPEND")}
	return nil
}

func (p *parser) makeDir(dirfd, path string) error {
	dir, name, ok, err := p.locate(dirfd, path)
	if !ok || name == "" { // the root itself
		return err
	}
	p.next++
	p.log.kinds[p.next] = true
	p.now.dirs[p.next] = map[string]int{}
	p.add(event{op: opLink, dir: dir, name: name, inode: p.next})
	return nil
}

func (p *parser) unlink(dirfd, path string) error {
	dir, name, ok, err := p.locate(dirfd, path)
	if !ok {
		return err
	}
	p.add(event{op: opUnlink, dir: dir, name: name, inode: p.resolve(dir, name)})
	return nil
}

func (p *parser) rename(args []string) error {
	from, old, ok, err := p.locate(args[0], args[1])
	to, name, ok2, err2 := p.locate(args[2], args[3])
	if err != nil || err2 != nil || !ok && !ok2 {
		return fmt.Errorf("rename: %w, %w", err, err2)
	}
	exchange := len(args) > 4 && args[4] == "RENAME_EXCHANGE"
	if ok != ok2 || len(args) > 4 && !exchange && args[4] != "0" && args[4] != "RENAME_NOREPLACE" {
		return fmt.Errorf("a rename over the border of the directory, or with flags, is not modelled")
	}
	if exchange {
		p.add(event{op: opExchange, fromDir: from, from: old, dir: to, name: name, inode: p.resolve(from, old), other: p.resolve(to, name)})
		return nil
	}
	p.add(event{op: opRename, fromDir: from, from: old, dir: to, name: name, inode: p.resolve(from, old)})
	return nil
}

func (p *parser) link(args []string) error {
	from, old, ok, err := p.locate(args[0], args[1])
	to, name, ok2, err2 := p.locate(args[2], args[3])
	if !ok || !ok2 {
		return fmt.Errorf("a link over the border of the directory is not modelled: %w, %w", err, err2)
	}
	p.add(event{op: opLink, dir: to, name: name, inode: p.resolve(from, old)})
	return nil
}

// copyRange takes in copy_file_range(in, offset, out, offset, ...) without
// offsets, as copying whole files gives it.
func (p *parser) copyRange(args []string, n int64) error {
	out := p.fds[args[2]]
	if out == nil {
		return nil
	}
	in := p.fds[args[0]]
	if in == nil || args[1] != "NULL" || args[3] != "NULL" {
		return fmt.Errorf("copy_file_range from outside, or with offsets, is not modelled")
	}
	data := append([]byte(nil), p.now.files[in.inode][in.offset:in.offset+n]...)
	in.offset += n
	at := out.offset
	out.offset += n
	p.add(event{op: opWrite, inode: out.inode, offset: at, data: data})
	return nil
}

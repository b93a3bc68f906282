package topo

import "unsafe"

// token marks what one editor has copied already and may therefore change in
// place. A published version holds pages whose token no living editor has, so
// nothing in it ever changes. The counters tell what an edit cost.
type token struct {
	cost Cost
}

// Cost counts what an editor copied: the test that a commit costs what it
// touches, and nothing that grows with a degree or with the graph.
type Cost struct {
	Pages int // pages, directories and overlay nodes copied or made
	Bytes int // their bytes
}

func (t *token) count(bytes uintptr) {
	t.cost.Pages++
	t.cost.Bytes += int(bytes)
}

const (
	dirBits = 8
	dirSize = 1 << dirBits
	dirMask = dirSize - 1
)

// vec is a persistent array of page pointers: a short root over directories of
// 256 pages. Copying a vec shares everything; set copies one directory. The
// root is copied with it: 8 bytes for every 65,536 edges or 16,384 nodes.
type vec[P any] struct {
	dirs  []*dir[P]
	owner *token // of the slice dirs
}

type dir[P any] struct {
	owner *token
	pages [dirSize]*P
}

// at returns page i, nil when there is none.
func (v *vec[P]) at(i uint32) *P {
	d := i >> dirBits
	if int(d) >= len(v.dirs) || v.dirs[d] == nil {
		return nil
	}
	return v.dirs[d].pages[i&dirMask]
}

func (v *vec[P]) set(i uint32, p *P, tok *token) {
	d := int(i >> dirBits)
	if v.owner != tok {
		n := max(len(v.dirs), d+1)
		dirs := make([]*dir[P], n, n+1)
		copy(dirs, v.dirs)
		v.dirs, v.owner = dirs, tok
		tok.count(uintptr(n) * unsafe.Sizeof(dirs[0]))
	}
	for len(v.dirs) <= d {
		v.dirs = append(v.dirs, nil)
	}
	cur := v.dirs[d]
	if cur == nil || cur.owner != tok {
		next := &dir[P]{owner: tok}
		if cur != nil {
			next.pages = cur.pages
		}
		v.dirs[d], cur = next, next
		tok.count(unsafe.Sizeof(*next))
	}
	cur.pages[i&dirMask] = p
}

// next returns the first page at or after i that exists, and its number.
func (v *vec[P]) next(i uint32) (uint32, *P) {
	for d := int(i >> dirBits); d < len(v.dirs); d++ {
		if v.dirs[d] != nil {
			for k := i & dirMask; k < dirSize; k++ {
				if p := v.dirs[d].pages[k]; p != nil {
					return uint32(d)<<dirBits | k, p
				}
			}
		}
		i = 0
	}
	return 0, nil
}

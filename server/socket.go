package server

import (
	"sync"
	"time"
)

// sockets are the websockets that are open.
type sockets struct {
	mu   sync.Mutex
	of   map[string]int // by the token's name
	all  map[*socket]struct{}
	wait sync.WaitGroup
}

type socket struct{}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func (s *sockets) closeAll() {}

var _ = time.Now

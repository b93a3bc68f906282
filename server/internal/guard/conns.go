package guard

import (
	"net"
	"sync"
)

// Listener bounds the connections that are open at a time, altogether and from one
// address. Those beyond are closed at once.
type Listener struct {
	net.Listener
	// Total and PerClient are the bounds; 0: none.
	Total, PerClient int

	mu    sync.Mutex
	open  int
	peers map[string]int
}

// Accept waits for a connection within the bounds.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer, _ := split(c.RemoteAddr().String())
		if l.take(peer) {
			return &counted{Conn: c, done: func() { l.give(peer) }}, nil
		}
		_ = c.Close() // it is one too many
	}
}

// Open is how many connections are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *Listener) take(peer string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Total > 0 && l.open >= l.Total || l.PerClient > 0 && l.peers[peer] >= l.PerClient {
		return false
	}
	if l.peers == nil {
		l.peers = map[string]int{}
	}
	l.open++
	l.peers[peer]++
	return true
}

func (l *Listener) give(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.peers[peer]--; l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	once sync.Once
	done func()
}

// Close closes the connection.
func (c *counted) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

// Package login lets browsers in: a token's one-time code becomes a session, whose secret
// a cookie holds. Nothing of it outlives the process.
package login

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"engram/server/token"
)

// The bounds of codes and sessions.
const (
	CodeLife    = 2 * time.Minute
	SessionLife = 12 * time.Hour
	maxCodes    = 16   // of one token, that were not used
	maxSessions = 64   // of one token
	maxAll      = 1024 // codes and sessions of all tokens, each
	maxFailures = 10   // that come at once
	refill      = 6 * time.Second
)

// What is refused.
var (
	ErrRefused  = errors.New("the code is none, was used, or has expired: make a new one with engramd token login")
	ErrTooMany  = errors.New("the token has too many codes or sessions open: wait until some expire, or log out")
	ErrFailures = errors.New("too many codes that are none were tried: wait and try again")
)

// Session is a browser that was let in.
type Session struct {
	Who     token.Identity
	Host    string // that the login named, which every request has to name
	Expires time.Time

	id   [sha256.Size]byte // of the cookie's secret
	csrf [sha256.Size]byte
}

// Allows reports whether a request that may change something comes from the page that
// logged in: it knows what the login's answer told beside the cookie.
func (s *Session) Allows(csrf string) bool {
	hash := sha256.Sum256([]byte(csrf))
	return subtle.ConstantTimeCompare(hash[:], s.csrf[:]) == 1
}

type code struct {
	who     token.Identity
	expires time.Time
}

// Book holds codes and sessions. It is safe for concurrent use.
type Book struct {
	tokens *token.Store
	now    func() time.Time

	mu       sync.Mutex
	codes    map[[sha256.Size]byte]code
	sessions map[[sha256.Size]byte]*Session
	failures int
	failed   time.Time // when failures was right
}

// New makes an empty book. What it holds ends with the tokens it was made by.
func New(tokens *token.Store, now func() time.Time) *Book {
	return &Book{tokens: tokens, now: now, codes: map[[sha256.Size]byte]code{}, sessions: map[[sha256.Size]byte]*Session{}}
}

// Code makes a code by which a browser can log in as a token, once, within CodeLife.
func (b *Book) Code(who token.Identity) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidyLocked()
	own := 0
	for _, c := range b.codes {
		if c.who.Same(who) {
			own++
		}
	}
	if own >= maxCodes || len(b.codes) >= maxAll {
		return "", ErrTooMany
	}
	text := strings.ToLower(rand.Text()) // 130 random bits
	b.codes[sha256.Sum256([]byte(text))] = code{who, b.now().Add(CodeLife)}
	return text, nil
}

// Login makes a session of a code, for requests that name a host. The cookie's secret and
// the csrf token are told only now.
func (b *Book) Login(text, host string) (s *Session, secret, csrf string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tidyLocked()
	if b.failures >= maxFailures {
		return nil, "", "", ErrFailures
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(text)))
	c, ok := b.codes[hash]
	if !ok || !b.tokens.Valid(c.who) {
		b.failures++
		return nil, "", "", ErrRefused
	}
	own := 0
	for _, s := range b.sessions {
		if s.Who.Same(c.who) {
			own++
		}
	}
	if own >= maxSessions || len(b.sessions) >= maxAll {
		return nil, "", "", ErrTooMany
	}
	delete(b.codes, hash)
	secret, csrf = newSecret(), newSecret()
	s = &Session{Who: c.who, Host: host, Expires: b.now().Add(SessionLife), id: sha256.Sum256([]byte(secret)), csrf: sha256.Sum256([]byte(csrf))}
	b.sessions[s.id] = s
	return s, secret, csrf, nil
}

// Lookup tells whose session a cookie's secret is, of a request that names a host.
func (b *Book) Lookup(secret, host string) (*Session, bool) {
	b.mu.Lock()
	s := b.sessions[sha256.Sum256([]byte(secret))]
	b.mu.Unlock()
	if s == nil || s.Host != host || !b.Alive(s) {
		return nil, false
	}
	return s, true
}

// Alive reports whether a session goes on: it was not ended, has not expired, and its token
// still works. A nil session is none, and does.
func (b *Book) Alive(s *Session) bool {
	if s == nil {
		return true
	}
	b.mu.Lock()
	there := b.sessions[s.id] == s
	b.mu.Unlock()
	return there && b.now().Before(s.Expires) && b.tokens.Valid(s.Who)
}

// End ends a session.
func (b *Book) End(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, s.id)
}

// tidyLocked forgets what is over.
func (b *Book) tidyLocked() {
	now := b.now()
	for id, c := range b.codes {
		if !now.Before(c.expires) {
			delete(b.codes, id)
		}
	}
	for id, s := range b.sessions {
		if !now.Before(s.Expires) || !b.tokens.Valid(s.Who) {
			delete(b.sessions, id)
		}
	}
	if forgiven := int(now.Sub(b.failed) / refill); forgiven > 0 {
		b.failures, b.failed = max(b.failures-forgiven, 0), now
	}
}

// newSecret makes 256 random bits.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Package token holds who may talk to a server: the token of a data directory,
// which may do everything, and named ones with scopes.
//
//	store, err := token.Open(dir)
//	if err != nil {
//		return err
//	}
//	secret, err := store.Create(token.Spec{Name: "notes", Scopes: []token.Scope{token.Read}})
//	who, ok := store.Lookup(secret)
//	fmt.Println(ok, who.Name, who.May(token.Write)) // true notes false
package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Scope is something that a token allows.
type Scope string

// The scopes.
const (
	Read        Scope = "read"         // ask
	Write       Scope = "write"        // change a graph; includes Read
	Chat        Scope = "chat"         // talk to a model
	RunCommands Scope = "run-commands" // let a model run commands
	Admin       Scope = "admin"        // import, export, backup, namespaces; includes Read and Write
)

// Scopes are all scopes, in a fixed order.
func Scopes() []Scope { return []Scope{Read, Write, Chat, RunCommands, Admin} }

// ParseScopes reads scopes, each of which may be a list with commas.
func ParseScopes(list ...string) ([]Scope, error) {
	var out []Scope
	for _, s := range strings.Split(strings.Join(list, ","), ",") {
		scope := Scope(strings.TrimSpace(s))
		if !slices.Contains(Scopes(), scope) {
			return nil, fmt.Errorf("%q is no scope: want read, write, chat, run-commands or admin", scope)
		}
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	return out, nil
}

// Spec says what a named token allows.
type Spec struct {
	// Name has 1 to 64 letters, digits, '-', '_' and '.', and is not "root".
	Name string
	// Scopes are one or more.
	Scopes []Scope
	// Namespaces are those that may be used; none: all.
	Namespaces []string
	// Expires is when it stops working; zero: never.
	Expires time.Time
}

// Identity is who a request comes from.
type Identity struct {
	// Name is the token's; that of the data directory's own is "root".
	Name       string
	Scopes     []Scope
	Namespaces []string
	Expires    time.Time

	hash [sha256.Size]byte
}

// rootName is the name of the data directory's own token.
const rootName = "root"

// May reports whether the scopes allow what a scope stands for.
func (i Identity) May(s Scope) bool {
	for _, have := range i.Scopes {
		switch {
		case have == s, have == Write && s == Read, have == Admin && (s == Read || s == Write):
			return true
		}
	}
	return false
}

// MayUse reports whether a namespace may be used.
func (i Identity) MayUse(namespace string) bool {
	return len(i.Namespaces) == 0 || slices.Contains(i.Namespaces, namespace)
}

// Same reports whether two identities are of one and the same secret.
func (i Identity) Same(j Identity) bool { return i.Name == j.Name && i.hash == j.hash }

// Owner is what marks things that are a token's for longer than a request: they are not
// those of another one that gets its name later. The data directory's own keeps its
// things when it is replaced.
func (i Identity) Owner() string {
	if i.Name == rootName {
		return rootName
	}
	return i.Name + "/" + hex.EncodeToString(i.hash[:8])
}

type identityKey struct{}

// NewContext returns a context that tells who a request comes from.
func NewContext(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, i)
}

// FromContext tells who a request comes from, if its token was checked.
func FromContext(ctx context.Context) (Identity, bool) {
	i, ok := ctx.Value(identityKey{}).(Identity)
	return i, ok
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check tells what is wrong with a spec.
func (s Spec) check() error {
	if !validName.MatchString(s.Name) || s.Name == rootName {
		return fmt.Errorf("%q cannot be a token's name: want 1 to 64 letters, digits, '-', '_' and '.', and not %q", s.Name, rootName)
	}
	if len(s.Scopes) == 0 {
		return fmt.Errorf("token %s: it needs a scope, such as read", s.Name)
	}
	if _, err := ParseScopes(asStrings(s.Scopes)...); err != nil {
		return fmt.Errorf("token %s: %w", s.Name, err)
	}
	return nil
}

func asStrings(scopes []Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

// prefix lets people and scanners of leaked secrets tell what it is.
const prefix = "engram_"

// newSecret makes 256 random bits.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

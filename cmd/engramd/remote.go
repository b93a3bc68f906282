package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"engram"
	"engram/server/client"
)

// database is a namespace that is open here, or in the process that has the data
// directory open.
type database interface {
	querier
	Stats(ctx context.Context) (engram.Stats, error)
	Audit(ctx context.Context, o *engram.AuditOptions) (*engram.AuditReport, error)
	session() session
}

// session is a conversation with a database.
type session interface {
	querier
	InTransaction() bool
	Close()
}

// rows is an answer that is read row by row.
type rows interface {
	Columns() []string
	All() iter.Seq2[[]engram.Value, error]
	Count() int64
	Result() *engram.Result
	Close() error
}

// local is a database that is open here.
type local struct{ *engram.DB }

func (l local) Rows(ctx context.Context, text string, params map[string]any) (rows, error) {
	return orNil(l.DB.Rows(ctx, text, params))
}

func (l local) session() session { return localSession{engram.NewSession(l.DB)} }

type localSession struct{ *engram.Session }

func (s localSession) Rows(ctx context.Context, text string, params map[string]any) (rows, error) {
	return orNil(s.Session.Rows(ctx, text, params))
}

// orNil keeps a nil pointer from becoming an answer.
func orNil[R rows](r R, err error) (rows, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// remote is a database that a server has open.
type remote struct{ *client.Client }

func (r remote) Rows(ctx context.Context, text string, params map[string]any) (rows, error) {
	return remoteRows(ctx, r.Client, text, params)
}

func (r remote) session() session { return remoteSession{client.NewSession(r.Client)} }

type remoteSession struct{ *client.Session }

func (s remoteSession) Rows(ctx context.Context, text string, params map[string]any) (rows, error) {
	return remoteRows(ctx, s.Session, text, params)
}

// remoteRows asks for rows; those of a statement with a plan are gathered, since a
// server tells the plan behind them and a person reads it before.
func remoteRows(ctx context.Context, q interface {
	Query(context.Context, string, map[string]any) (*engram.Result, error)
	Rows(context.Context, string, map[string]any) (*client.Rows, error)
}, text string, params map[string]any,
) (rows, error) {
	if w := firstWord(text); w != "EXPLAIN" && w != "PROFILE" {
		return orNil(q.Rows(ctx, text, params))
	}
	res, err := q.Query(ctx, text, params)
	if err != nil {
		return nil, err
	}
	return gathered{res}, nil
}

// gathered are rows in memory.
type gathered struct{ res *engram.Result }

func (g gathered) Columns() []string                     { return g.res.Columns }
func (g gathered) All() iter.Seq2[[]engram.Value, error] { return held(g.res.Rows) }
func (g gathered) Count() int64                          { return int64(len(g.res.Rows)) }
func (g gathered) Result() *engram.Result                { return g.res }
func (g gathered) Close() error                          { return nil }

// withDatabase opens the namespace of the command line for fn and closes it again.
// When --data is a URL, or another process has the directory open and can be talked
// to, fn talks to that.
func (a *app) withDatabase(how access, fn func(database) error) error {
	if isURL(a.data) {
		secret, err := secretFor("")
		if err != nil {
			return err
		}
		return a.withServer(a.data, secret, how, fn)
	}
	begun := false
	err := a.withNamespace(how, func(db *engram.DB) error {
		begun = true
		return fn(local{db})
	})
	_, address, busy := engram.OwnerOf(err)
	if begun || !busy || !isURL(address) && !strings.HasPrefix(address, "unix:") {
		return err
	}
	secret, tokenErr := secretFor(filepath.Join(a.data, "token"))
	if tokenErr != nil {
		return fmt.Errorf("%w; %w", err, tokenErr)
	}
	return a.withServer(address, secret, how, fn)
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// secretFor finds the token for a server: in the environment, or in a file.
func secretFor(file string) (string, error) {
	if secret := os.Getenv("ENGRAM_TOKEN"); secret != "" {
		return secret, nil
	}
	file = cmp.Or(os.Getenv("ENGRAM_TOKEN_FILE"), file)
	if file == "" {
		return "", &refusedError{"the server needs a token: set ENGRAM_TOKEN, or ENGRAM_TOKEN_FILE to a file that holds it"}
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &missingFileError{file}
	}
	return strings.TrimSpace(string(content)), err
}

// ownerAt asks a server what it holds, to compare with. What keeps it from answering is
// noted: it is then unknown whether anything differs.
func (a *app) ownerAt(address string) *engram.AuditOwner {
	owner := &engram.AuditOwner{Source: address}
	secret, err := secretFor("")
	if err == nil {
		err = a.withServer(address, secret, reading, func(db database) error {
			s, err := db.Stats(a.ctx)
			owner.Seq, owner.Nodes, owner.Edges, owner.Types = s.Seq, s.Nodes, s.Edges, map[string]int64{}
			for _, t := range s.Types {
				owner.Types[t.Name] = t.Count
			}
			return err
		})
	}
	owner.Err = err
	return owner
}

// withServer talks to a server's namespace.
func (a *app) withServer(address, secret string, how access, fn func(database) error) (err error) {
	c, err := client.Open(address, &client.Options{Token: secret, Namespace: a.namespace})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := c.Close(); err == nil {
			err = closeErr
		}
	}()
	if how == writing {
		if _, err := c.Stats(a.ctx); engram.IsCode(err, engram.CodeNotFound) {
			if err := c.CreateNamespace(a.ctx); err != nil {
				return err
			}
		}
	}
	a.known = func(namespace string) (bool, error) {
		other, err := client.Open(address, &client.Options{Token: secret, Namespace: namespace})
		if err != nil {
			return false, err
		}
		_, err = other.Stats(a.ctx)
		if missing := engram.IsCode(err, engram.CodeNotFound); err == nil || missing {
			return !missing, other.Close()
		}
		return false, errors.Join(err, other.Close())
	}
	return fn(remote{c})
}

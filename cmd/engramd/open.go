package main

import (
	"fmt"

	"engram"
	"engram/server"
)

// withNamespace opens the namespace of the command line for fn and closes it
// again. Writing commands create what is missing; reading ones refuse it.
func (a *app) withNamespace(create bool, fn func(*engram.DB) error) (err error) {
	r, err := server.OpenRegistry(a.data, server.RegistryOptions{Create: create})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
	}()
	db, err := r.Open(a.namespace, create)
	if err != nil {
		return err
	}
	return fn(db)
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

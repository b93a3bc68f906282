//go:build !linux

package dir

import "errors"

// exchange would swap two directories in one step.
func exchange(_, _ string) error {
	return errors.New("this system cannot swap two directories in one step, so nothing was replaced; choose a namespace that is not there")
}

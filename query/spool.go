package query

import "engram/query/internal/spool"

// Spool holds the rows of a result that may be larger than memory: it is filled by
// a run, then read row by row and closed. No transaction has to be open meanwhile.
type Spool = spool.Spool

// SpoolSpace is a directory in which spools put their temporary files.
type SpoolSpace = spool.Space

// SpoolError is an error of a spool's file.
type SpoolError = spool.IOError

// NewSpoolSpace makes a space in a directory; an empty one means os.TempDir. What
// killed processes left there is removed before the first file is made.
func NewSpoolSpace(dir string) *SpoolSpace { return spool.NewSpace(dir) }

package text

import (
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// The library's goroutines that write and merge segments try again at once when
// that fails: on a full disk they would keep a CPU busy. The library calls this
// callback between two tries, in the goroutine concerned, so it can slow them down.
const (
	backoffName  = "engram back-off"
	backoffPause = 250 * time.Millisecond // also what Close may have to wait longer
)

// registerBackoff gives the library the callback; its registry is one for the
// process and must not change while an index is being opened.
var registerBackoff = sync.OnceFunc(func() {
	scorch.RegistryAsyncErrorCallbacks[backoffName] = func(error, string) { time.Sleep(backoffPause) }
})

package chatbridge

import "time"

// SetHold sets how long a conversation stays a process's that is not heard of.
func (b *Bridge) SetHold(d time.Duration) { b.hold = d }

package server

import (
	"runtime/debug"
	runtimemetrics "runtime/metrics"
)

// keepMemory closes namespaces that nobody uses while the process holds more than
// Config.Memory. Each time it is about an eighth of what is loaded, since only then
// can be seen what it gave.
func (s *Server) keepMemory() {
	if s.config.Memory <= 0 {
		return
	}
	for heldMemory() > s.config.Memory {
		if s.registry.Unload(1+s.registry.Loaded()/8) == 0 {
			return // all of them are in use
		}
		debug.FreeOSMemory()
	}
}

// heldMemory is what the process has of the system for its heap, stacks and the runtime.
func heldMemory() int64 {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

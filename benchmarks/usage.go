//go:build unix

package benchmarks

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime is what the process has used so far, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS is the largest resident set so far, in MB.
func peakRSS() float64 { return statusMB("VmHWM:") }

// anonymousRSS is the resident memory that no file backs, in MB.
func anonymousRSS() float64 { return statusMB("RssAnon:") }

func statusMB(field string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

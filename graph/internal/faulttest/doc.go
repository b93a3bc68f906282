// Package faulttest holds the tests of what a graph promises under faults: kills,
// power cuts, full and failing disks, damaged files, clock steps, concurrency and
// sheer size. Each test is named after its fault; DESIGN.md has the table. The
// tests start the test binary itself again as the process that meets the fault.
//
// ENGRAM_LONG=1 makes the samples as large as a night allows.
package faulttest

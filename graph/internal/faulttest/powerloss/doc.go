// Package powerloss simulates power cuts without special hardware, kernel modules
// or privileges. It reads a strace log of a process that wrote a directory, and
// builds states in which a power cut could have left that directory.
//
// The model is the weakest that POSIX allows. A write or a change of a file's
// length is durable once a sync of that file that began after it has returned
// success; a new, renamed or removed name is durable once its directory was
// synced likewise. Everything else may be there or not, each change by itself,
// and of a write any of its 512-byte sectors.
//
// What the process prints as "BEGIN n" and "ACK n" becomes part of the log, so
// that each state comes with the transactions that must be in it and those that
// may be.
package powerloss

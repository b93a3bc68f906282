// Package dir lays out data directories on disk and keeps other processes out.
//
//	catalog      marks the directory and tells the version of its layout
//	LOCK         locked while a process may write; tells its pid and address
//	token        the daemon's, not touched here
//	ns/<name>/   one namespace, a graph each:
//	  graph.db   the truth
//	  seq        side file: the newest acknowledged seq, and what its pages begin with
//	  text/      the text index, a cache, made by the index itself
//
// Opening never changes anything that it refuses: the marks and the format of a
// namespace are read before LOCK is taken. Directories have mode 0700, files 0600.
//
// LOCK is held with flock, which belongs to an open file, not to a process: so a
// second open in the same process is refused the same way, also through symbolic
// links and other mounts, and no table of open directories is needed. graph.db is
// locked by itself as well, so a hard link to it from another directory is refused,
// too.
package dir

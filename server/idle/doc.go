// Package idle is what a daemon does about its memories when nobody asks: on a
// heartbeat it recalls from memories that are rare, unfinished or recent, and proposes
// links and questions. It writes nothing but what the learning queue holds already; a
// person, or a program, decides about a proposal by running its statement.
package idle

// Package graphline reads and writes the lines in which a graph is exported and
// staged: one JSON object a line, with one key that says what it is.
//
//	{"engram":{"version":1}}
//	{"node":{"id":"ada","labels":["Person"],"properties":{"born":{"$kind":"date","value":"1815-12-10"}}}}
//	{"edge":{"type":"KNOWS","start":"ada","end":"bob","properties":{}}}
//	{"end":{"nodes":2,"edges":1}}
//
// Values that JSON lacks are objects with $kind. Reading a line gives what was
// written, to the bit.
package graphline

import (
	"encoding/json"

	"engram"
)

// Version is the newest version of the format that is read and written. History: 1 is
// the first.
const Version = 1

// Node is a node as it stands in a line.
type Node struct {
	// ID is how edges name it: its external id.
	ID     string
	Labels []string // in ascending order
	Props  []engram.Prop
}

// Edge is an edge as it stands in a line.
type Edge struct {
	Type     string
	From, To string // ids of nodes
	Props    []engram.Prop
}

// End is the last line: it tells a whole file from one that is cut off.
type End struct {
	Nodes int64 `json:"nodes"`
	Edges int64 `json:"edges"`
}

// Line is what one line holds: one of the fields is set.
type Line struct {
	Version int
	Schema  string // a statement that declares something
	Node    *Node
	Edge    *Edge
	End     *End
}

// AppendHeader appends the first line.
func AppendHeader(dst []byte) []byte { return append(dst, "{\"engram\":{\"version\":1}}\n"...) }

// AppendSchema appends a line with a statement that declares something.
func AppendSchema(dst []byte, statement string) []byte {
	return append(appendText(append(dst, `{"schema":`...), statement), "}\n"...)
}

// AppendNode appends a node's line.
func AppendNode(dst []byte, n *Node) []byte {
	dst = appendText(append(dst, `{"node":{"id":`...), n.ID)
	dst = append(dst, `,"labels":[`...)
	for i, l := range n.Labels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, l)
	}
	dst = appendProps(append(dst, `],"properties":`...), n.Props)
	return append(dst, "}}\n"...)
}

// AppendEdge appends an edge's line.
func AppendEdge(dst []byte, e *Edge) []byte {
	dst = appendText(append(dst, `{"edge":{"type":`...), e.Type)
	dst = appendText(append(dst, `,"start":`...), e.From)
	dst = appendText(append(dst, `,"end":`...), e.To)
	dst = appendProps(append(dst, `,"properties":`...), e.Props)
	return append(dst, "}}\n"...)
}

// AppendEnd appends the last line.
func AppendEnd(dst []byte, e End) []byte {
	text, _ := json.Marshal(e) // two numbers
	return append(append(append(dst, `{"end":`...), text...), "}\n"...)
}

func appendText(dst []byte, s string) []byte {
	v, err := engram.ValueOf(s)
	if err != nil { // not UTF-8, which nothing stored is
		text, _ := json.Marshal(s)
		return append(dst, text...)
	}
	return v.AppendJSON(dst)
}

func appendProps(dst []byte, props []engram.Prop) []byte {
	dst = append(dst, '{')
	for i, p := range props {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendValue(append(appendText(dst, p.Key), ':'), p.Value)
	}
	return append(dst, '}')
}

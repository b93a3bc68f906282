// Package receipt holds what went into a recall, as a text that can be stored: a
// statement that stands alone, its parameters, and what came of it.
package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// version is the one of the text; it grows when older readers would misread it.
const version = 1

// Receipt tells how a recall was made.
type Receipt struct {
	Version int `json:"version"`
	// Statement makes the same recall again, up to its YIELD. Empty: it can't be
	// made again, for the reason in Why.
	Statement string `json:"statement,omitempty"`
	Why       string `json:"why_not_replayable,omitempty"`
	// Node is the name under which WHERE knows the candidate.
	Node       string     `json:"node"`
	Parameters Parameters `json:"parameters"`
	// Seq is the number of the snapshot's last transaction.
	Seq     uint64    `json:"seq"`
	At      string    `json:"at"` // the reference time
	Seeds   []Seed    `json:"seeds"`
	Limits  []string  `json:"limits"`  // bounds that spreading met
	Dropped []Dropped `json:"dropped"` // candidates that were looked at and left out
	More    int       `json:"more_dropped,omitempty"`
	Rows    []Row     `json:"rows"`
}

// Seed is a node that activation began at, by external id.
type Seed struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"`
}

// Dropped is a candidate that was left out.
type Dropped struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Row is one row of the answer.
type Row struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// Encode writes a receipt down.
func (r *Receipt) Encode() (string, error) {
	r.Version = version
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // statements have < and >
	if err := e.Encode(r); err != nil {
		return "", fmt.Errorf("writing a receipt: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Decode reads a receipt.
func Decode(text string) (*Receipt, error) {
	var r Receipt
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		if !json.Valid([]byte(text)) {
			return nil, errors.New("it is no receipt: it is not JSON")
		}
		return nil, errors.New("it is no receipt: a part of it has the wrong type")
	}
	switch {
	case r.Version == 0:
		return nil, errors.New("it is no receipt: it has no version")
	case r.Version > version:
		return nil, fmt.Errorf("it is a receipt of version %d, which this version does not know", r.Version)
	}
	return &r, nil
}

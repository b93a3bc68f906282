package physical

import (
	"engram/graph/value"
	"engram/query/internal/recall"
)

func (o *recaller) receiptOf(opts *recall.Options, rows []recall.Row) (value.Value, error) {
	return value.Null, nil
}

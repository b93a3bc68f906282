package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message in bytes.
const maxLine = 16 << 20

// lineTransport speaks over two streams, a message a line. It refuses
// ambiguous messages, and gives every tool call an idempotency key when the session
// has a name.
type lineTransport struct {
	in      io.Reader
	out     io.Writer
	session string
}

func (t *lineTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	in, ok := t.in.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(t.in)
	}
	inner, err := (&sdk.IOTransport{Reader: in, Writer: writeCloser{t.out}, MaxLineLength: maxLine}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &keyedConnection{inner, t.session}, nil
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// keyedConnection looks at requests before the server does.
type keyedConnection struct {
	sdk.Connection
	session string
}

func (c *keyedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		req, ok := m.(*jsonrpc.Request)
		if !ok || len(req.Params) == 0 {
			return m, nil
		}
		bad := checkJSON(req.Params)
		if bad == nil {
			if req.Method == "tools/call" && c.session != "" && req.ID.IsValid() {
				req.Params = withKey(req.Params, c.session, req.ID)
			}
			return req, nil
		}
		if !req.ID.IsValid() {
			continue // a notification that cannot be understood
		}
		refusal := &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params: " + bad.Error()}}
		if err := c.Connection.Write(ctx, refusal); err != nil {
			return nil, err
		}
	}
}

// withKey puts an idempotency key into a call's metadata, unless it has one: made of
// the session's name and the request's id, so that the same request that is sent
// again after a connection was lost is not done twice.
func withKey(params json.RawMessage, session string, id jsonrpc.ID) json.RawMessage {
	var p, meta map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil || p == nil {
		return params
	}
	if raw, ok := p["_meta"]; ok && !bytes.Equal(raw, []byte("null")) && json.Unmarshal(raw, &meta) != nil {
		return params
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	if _, ok := meta[keyMeta]; ok {
		return params
	}
	rawID, err := json.Marshal(id.Raw())
	if err != nil {
		return params
	}
	meta[keyMeta], _ = json.Marshal("mcp/" + session + "/" + short(string(rawID)))
	p["_meta"], _ = json.Marshal(meta)
	out, err := json.Marshal(p)
	if err != nil {
		return params
	}
	return out
}

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/chatbridge"
	"engram/chatbridge/gate"
	"engram/server"
)

// pacer is a gate whose streams come event by event, as those of models do, and that
// notes when each piece of text left.
type pacer struct {
	http.Handler
	pace, apart time.Duration // between events, and between the beginnings of chats
	mu          sync.Mutex
	sent        map[string][]piece // by what stands behind "chat " in the prompt
}

// piece is the end of a piece of text in the whole, and when it was there.
type piece struct {
	end int
	at  time.Time
}

func (p *pacer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the gate's client left
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.Handler.ServeHTTP(&pacedWriter{ResponseWriter: w, p: p, chat: chatName(string(body))}, r)
}

// chatName is the name of a chat in its prompt.
func chatName(text string) string {
	_, name, _ := strings.Cut(text, "chat ")
	name, _, _ = strings.Cut(name, ".")
	return name
}

type pacedWriter struct {
	http.ResponseWriter
	p    *pacer
	chat string
	text int
}

func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) Write(b []byte) (int, error) {
	for frame := range bytes.SplitAfterSeq(b, []byte("\n\n")) {
		n := len(deltaOf(frame))
		if n > 0 && w.p.pace > 0 {
			time.Sleep(w.p.pace) // how fast a model speaks
		}
		if w.text += n; n > 0 {
			w.p.mu.Lock()
			w.p.sent[w.chat] = append(w.p.sent[w.chat], piece{w.text, time.Now()})
			w.p.mu.Unlock()
		}
		if _, err := w.ResponseWriter.Write(frame); err != nil {
			return 0, err
		}
		if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// deltaOf is the text in an event of a provider's stream; it is digits and spaces.
func deltaOf(frame []byte) string {
	_, text, ok := bytes.Cut(frame, []byte(`"content":"`))
	if !ok {
		return ""
	}
	text, _, _ = bytes.Cut(text, []byte(`"`))
	return string(text)
}

// delays are how long pieces took to arrive, given when they did.
func (p *pacer) delays(chat string, got []piece) []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []time.Duration
	sent := p.sent[chat]
	for _, g := range got {
		i, _ := slices.BinarySearchFunc(sent, g.end, func(s piece, end int) int { return s.end - end })
		if i < len(sent) {
			out = append(out, g.at.Sub(sent[i].at))
		}
	}
	return out
}

func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

// TestManyChats has 200 chats at a time, streaming: no event is lost or in another place,
// each answer is whole and stored, nothing is left running, and an idle conversation
// costs little memory. With ENGRAM_LONG the provider speaks as fast as models do, and
// what the way through the server adds to each piece of text is measured, too: on a
// machine of its own, since provider and clients are in this process.
func TestManyChats(t *testing.T) {
	chats, pieces, pace := 200, 20, time.Duration(0)
	if testing.Short() {
		chats = 60 // with the race detector each costs more
	}
	if os.Getenv("ENGRAM_LONG") != "" {
		pieces, pace = 150, 50*time.Millisecond // a piece is two or three tokens
	}
	text := strings.TrimSpace(strings.Repeat("012345678 ", pieces))
	script, err := gate.ParseScenario([]byte(`{"scenarios": [{"marker": "GATE-LOAD", "steps": [{"text": "` + text + `"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(script, nil)
	p := &pacer{Handler: g, pace: pace, apart: pace / 3, sent: map[string][]piece{}}
	provider := httptest.NewServer(p)
	defer func() { g.Close(); provider.Close() }()
	h := start(t, func(c *server.Config) {
		c.Chat = chatbridge.Options{Providers: []chatbridge.Provider{{Name: "gate", Wire: "openai", BaseURL: provider.URL, Model: "m"}}, NoTitles: true}
	})
	runChats(t, h, p, "warm", 50, text)
	before := inUse()
	through := runChats(t, h, p, "load", chats, text)
	after := inUse()
	if each := (int64(after) - int64(before)) / int64(chats); each > 64<<10 {
		t.Errorf("an idle conversation takes %d bytes", each)
	} else {
		t.Logf("bench: an idle conversation takes %d bytes", each)
	}
	before = inUse()
	watchAll(t, h, chats)
	if each := (int64(inUse()) - int64(before)) / int64(chats); each > 96<<10 {
		t.Errorf("an idle conversation that a websocket watches takes %d bytes, with the client's side", each)
	} else {
		t.Logf("bench: an idle conversation that a websocket watches takes %d bytes, with the client's side", each)
	}
	page := h.must("GET", "/metrics", "").body
	for _, want := range []string{"engram_event_streams_open 0", "engram_chat_runs 0", "engram_statements_running 0"} {
		if !strings.Contains(page, want) {
			t.Errorf("not %s", want)
		}
	}
	if got := h.eql("MATCH (c:Conversation)-[:CONTAINS]->(t:Turn {role: 'assistant'}) RETURN count(DISTINCT c), count(t), min(t.text) = max(t.text), max(size(t.text))"); got != fmt.Sprintf("[[%d,%d,true,%d]]", chats+50, chats+50, len(text)) {
		t.Errorf("stored: %s", got)
	}
	if pace == 0 {
		return
	}
	direct := runDirect(t, provider.URL, p, chats)
	t.Logf("bench: %d chats, %d pieces each, one every %v: delay of a piece p50 %v, p99 %v; without the server p50 %v, p99 %v; added at p99 %v",
		chats, len(through)/chats, pace, quantile(through, .5), quantile(through, .99), quantile(direct, .5), quantile(direct, .99), quantile(through, .99)-quantile(direct, .99))
}

// inUse are the bytes of the heap and of stacks that are in use.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// runChats has chats at a time and checks what comes of each.
func runChats(t *testing.T, h *harness, p *pacer, name string, chats int, text string) []time.Duration {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	for i := range chats {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * p.apart)
			chat := fmt.Sprint(name, i)
			got, err := oneChat(h, chat, text)
			if err != nil {
				t.Errorf("chat %s: %v", chat, err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p.delays(chat, got)...)
		})
	}
	wg.Wait()
	if len(all) == 0 {
		t.Fatal("no piece of text arrived")
	}
	return all
}

// oneChat has one chat, checks its events, and tells when pieces of text arrived.
func oneChat(h *harness, chat, text string) (got []piece, err error) {
	req, err := http.NewRequest("POST", h.url+"/v1/conversations/new/messages", strings.NewReader(say("GATE-LOAD chat "+chat+".")))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Authorization": {"Bearer " + h.root}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	res, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var said strings.Builder
	seq, last, wrong := 0, "", ""
	for lines := bufio.NewReader(res.Body); ; {
		line, readErr := lines.ReadBytes('\n')
		if readErr != nil {
			if readErr != io.EOF {
				err = readErr
			}
			break
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Seq        int
			Type, Text string
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		if e.Type == "delta" {
			said.WriteString(e.Text)
			got = append(got, piece{said.Len(), time.Now()})
		}
		if seq++; e.Seq != seq {
			wrong = fmt.Sprintf("event %d is %s", seq, data)
		}
		last = e.Type
	}
	switch {
	case err != nil:
	case wrong != "":
		err = fmt.Errorf("%s", wrong)
	case res.StatusCode != 200 || last != "done" || said.String() != text:
		err = fmt.Errorf("status %d, %d events, the last one %q, %d bytes of text", res.StatusCode, seq, last, said.Len())
	}
	return got, err
}

// watchAll has a websocket watch each of some conversations, all of which are idle.
func watchAll(t *testing.T, h *harness, n int) {
	t.Helper()
	list := h.must("GET", fmt.Sprintf("/v1/conversations?limit=%d", n), "").json["conversations"].([]any)
	if len(list) != n {
		t.Fatalf("%d conversations", len(list))
	}
	for _, c := range list {
		ws, _ := h.dial(h.root)
		ws.send(`{"id":"s","type":"subscribe","request":{"conversation_id":"` + c.(map[string]any)["id"].(string) + `","after":1000000}}`)
		if m := ws.next(); m["type"] != "subscribed" {
			t.Fatalf("%v", m)
		}
	}
}

// runDirect reads the same streams from the provider.
func runDirect(t *testing.T, url string, p *pacer, chats int) []time.Duration {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i := range chats {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * p.apart)
			chat := fmt.Sprint("direct", i)
			body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"GATE-LOAD chat ` + chat + `."}]}`
			req, err := http.NewRequestWithContext(context.Background(), "POST", url+"/v1/chat/completions", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var got []piece
			end := 0
			for lines := bufio.NewReader(res.Body); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					break
				}
				if n := len(deltaOf([]byte(line))); n > 0 {
					end += n
					got = append(got, piece{end, time.Now()})
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, p.delays(chat, got)...)
		})
	}
	wg.Wait()
	if len(all) == 0 {
		t.Fatal("no piece of text arrived")
	}
	return all
}

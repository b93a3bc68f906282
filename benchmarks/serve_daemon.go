package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// daemon is engramd serve, as a process of its own.
type daemon struct {
	cmd     *exec.Cmd
	address string // host:port
	token   string
	errors  bytes.Buffer
}

var servesAt = regexp.MustCompile(`http://(\S+)`)

// startDaemon starts a daemon on a data directory, at a port that the system picks.
func startDaemon(ctx context.Context, dir, program string, env []string) (*daemon, error) {
	d := &daemon{cmd: exec.CommandContext(ctx, program, "--data", dir, "serve", "--listen", "127.0.0.1:0", "--log-level", "error")}
	d.cmd.Env = append(os.Environ(), env...)
	d.cmd.Stderr = &d.errors
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(os.Interrupt) }
	d.cmd.WaitDelay = 30 * time.Second
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	at := servesAt.FindStringSubmatch(line)
	if err != nil || at == nil {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait() // what it printed tells more
		return nil, fmt.Errorf("%s serve did not start: %s%s", program, line, d.errors.String())
	}
	d.address = at[1]
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, d.stop())
	}
	d.token = strings.TrimSpace(string(secret))
	return d, nil
}

// stop ends the daemon as Ctrl-C does.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("engramd serve: %w: %s", err, d.errors.String())
	}
	return nil
}

// recallRequest is a request as it is sent.
func (d *daemon) recallRequest(words string) []byte {
	body, _ := json.Marshal(map[string]string{"query": words}) // texts always marshal
	return fmt.Appendf(nil, "POST /v1/recall HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		d.address, d.token, len(body), body)
}

// usage is what a daemon has used so far.
type usage struct {
	cpu      float64 // seconds
	mallocs  float64 // allocations
	resident float64 // bytes now
	inUse    float64 // bytes of heap and stacks now
}

// usage asks the daemon's metrics.
func (d *daemon) usage() (usage, error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+d.address+"/metrics", nil)
	if err != nil {
		return usage{}, err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return usage{}, err
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		return usage{}, err
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(page)) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				values[name] = v
			}
		}
	}
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "go_memstats_mallocs_total", "go_memstats_heap_inuse_bytes", "go_memstats_stack_inuse_bytes"} {
		if values[name] == 0 {
			return usage{}, fmt.Errorf("%w: /metrics does not tell %s", ErrRefused, name)
		}
	}
	return usage{
		cpu: values["process_cpu_seconds_total"], mallocs: values["go_memstats_mallocs_total"], resident: values["process_resident_memory_bytes"],
		inUse: values["go_memstats_heap_inuse_bytes"] + values["go_memstats_stack_inuse_bytes"],
	}, nil
}

// idleSockets opens websockets, has each of them answer once, and adds what the daemon
// then holds for each.
func (r *speedRun) idleSockets(d *daemon, n int) error {
	before, err := d.usage()
	if err != nil {
		return err
	}
	open := make([]*websocket.Conn, 0, n)
	defer func() {
		for _, conn := range open {
			_ = conn.Close() // it is idle
		}
	}()
	dialer := websocket.Dialer{ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}
	for range n {
		conn, res, err := dialer.DialContext(r.ctx, "ws://"+d.address+"/v1/ws", http.Header{"Authorization": {"Bearer " + d.token}})
		if err != nil {
			if res != nil {
				err = fmt.Errorf("%w: %d of %d websockets: %s: %w", ErrRefused, len(open), n, res.Status, err)
			}
			return err
		}
		open = append(open, conn)
		if err := conn.WriteJSON(map[string]string{"id": "1", "type": "cancel"}); err != nil {
			return err
		}
		if _, _, err := conn.ReadMessage(); err != nil {
			return err
		}
	}
	after, err := d.usage()
	if err != nil {
		return err
	}
	kib := func(bytes float64) float64 { return bytes / float64(n) / 1024 }
	r.add(speedRow{Metric: "socket_rss_kib", Value: kib(after.resident - before.resident), Unit: "KiB", N: n})
	r.add(speedRow{Metric: "socket_heap_kib", Value: kib(after.inUse - before.inUse), Unit: "KiB", N: n})
	return nil
}

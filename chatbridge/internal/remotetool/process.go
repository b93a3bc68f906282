package remotetool

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"engram/chatbridge/internal/box"
)

const maxSaid = 64 << 20 // bytes of a program in one run; then it is taken for ended

// process is a program that speaks on its standard streams.
type process struct {
	cmd   *exec.Cmd
	mark  box.Marked
	in    io.WriteCloser
	out   io.Reader
	close sync.Once
}

// start starts the program of a server in a session of its own, without a terminal, and
// with a fixed environment: no keys of this process.
func start(s Server) (*process, error) {
	cmd, mark := exec.Command(s.Command[0], s.Command[1:]...), box.NewMark()
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(), mark.Env()}
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Env = append(cmd.Env, "HOME="+home)
	}
	for _, k := range sorted(s.Env) {
		cmd.Env = append(cmd.Env, k+"="+s.Env[k])
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, mark: mark, in: in, out: io.LimitReader(out, maxSaid)}, nil
}

func (p *process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the program and everything that it started, also what left its group.
func (p *process) Close() error {
	p.close.Do(func() {
		_ = p.in.Close()                                      // it is ended next
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
		_ = p.cmd.Wait()                                      // killed is how it ends
		p.mark.End(p.cmd.Process.Pid, nil)
	})
	return nil
}

package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxOutput = 1 << 20 // bytes that are kept of a command
	maxArgs   = 256
)

// CheckCommand refuses what is no command.
func CheckCommand(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("the command is empty: argv[0] is the program")
	}
	if len(argv) > maxArgs {
		return fmt.Errorf("the command has more than %d arguments", maxArgs)
	}
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return errors.New("an argument holds a zero byte")
		}
	}
	return nil
}

// ReadOnly tells whether a command provably changes nothing and shows nothing outside
// of its folder: a list of shapes.
func ReadOnly(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	switch argv[0] {
	case "pwd", "true":
		return len(argv) == 1
	case "uname", "date":
		return len(argv) == 1
	case "ls":
		for _, a := range argv[1:] {
			if !slices.Contains([]string{"-l", "-a", "-la", "-al", "-1"}, a) {
				return false
			}
		}
		return true
	}
	return false
}

// runners run what their arguments say: a beginning of their command says nothing
// about what happens.
var runners = []string{
	"sh", "bash", "dash", "zsh", "ksh", "fish", "env", "xargs", "find", "sed", "awk", "gawk", "perl", "python", "python3", "ruby", "node", "npx",
	"npm", "git", "tar", "docker", "podman", "ssh", "sudo", "su", "doas", "nohup", "setsid", "timeout", "nice", "make", "go", "cargo", "php", "lua",
	"mawk", "nawk", "pip", "pipx", "uv", "uvx", "bun", "bunx", "deno", "yarn", "pnpm", "gem", "julia", "rscript", "pwsh", "tclsh", "expect", "java", "dotnet", "ghci",
	"unshare", "chroot", "nsenter", "runuser", "pkexec", "flock", "stdbuf", "ionice", "taskset", "parallel", "entr", "at", "batch", "crontab", "systemd-run",
	"ld.so", "just", "rake", "gradle", "mvn", "ninja", "cmake", "scp", "sftp", "socat", "nc", "ncat", "openssl", "install", "ln", "chmod", "chown",
	"vi", "vim", "ed", "less", "man", "curl", "wget", "rsync", "busybox", "strace", "gdb", "script", "watch", "time", "tee", "dd", "rm", "mv", "cp",
}

// Prefixable tells whether the beginning of a command may be allowed once and for all.
func Prefixable(prefix []string) bool {
	if len(prefix) == 0 {
		return false
	}
	name := strings.ToLower(path.Base(prefix[0]))
	plain := strings.TrimRight(name, "0123456789.-") // such as python3.12
	return name != "" && plain != "" && !slices.Contains(runners, name) && !slices.Contains(runners, plain)
}

// output keeps the first bytes that are written.
type output struct {
	mu   sync.Mutex
	b    bytes.Buffer
	lost int
}

// Write takes everything and keeps what there is room for.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(p), maxOutput-o.b.Len())
	o.b.Write(p[:n])
	o.lost += len(p) - n
	return len(p), nil
}

// text is what was kept, and how much was not.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := strings.ToValidUTF8(o.b.String(), "?")
	if o.lost > 0 {
		text += fmt.Sprintf("\n[%d more bytes were printed and are left out]", o.lost)
	}
	return text
}

// Run runs a command in a folder, without a shell, a terminal, input or the
// environment of this process. After limit it is ended, with all that came of it, also
// what left its group. What it printed, up to 1 MiB, comes back also where it failed, and
// what outlived it is named.
func Run(ctx context.Context, dir string, argv []string, limit time.Duration) (string, error) {
	if err := CheckCommand(argv); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out output
	var before []Survivor
	mark := NewMark()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "HOME=" + dir, "PWD=" + dir, mark.Env()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // its own group, and no terminal to ask at
	cmd.Cancel = func() error {
		before = mark.find(cmd.Process.Pid, true)
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	cmd.WaitDelay = 500 * time.Millisecond
	err := cmd.Run()
	text := out.text()
	if cmd.Process != nil {
		left := mark.End(cmd.Process.Pid, before)
		if ctx.Err() != nil { // what was in its group was ended with it
			left = slices.DeleteFunc(left, func(s Survivor) bool { return s.group == cmd.Process.Pid })
		}
		text += told(left)
	}
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return text, fmt.Errorf("the command was ended after %s", limit)
	case ctx.Err() != nil:
		return text, errors.New("the command was cancelled")
	case errors.Is(err, exec.ErrWaitDelay):
		return text, nil // a process kept its output open
	case err != nil:
		return text, fmt.Errorf("the command failed: %w", err)
	}
	return text, nil
}

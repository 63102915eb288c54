package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/show/web"
	"stackagent/shadow/store/objectstore"
)

// MadeVerb is the hidden verb that writes what the page shows of a session to stdout: MadeVerb FORMAT DIR. It writes
// its progress to the file descriptor ProgressFD, a line of JSON each.
const (
	MadeVerb   = "page-of"
	DataFormat = "data" // the data alone
	FileFormat = "file" // the page as one file
	ProgressFD = 3
)

// maxProgressLine bounds a line of progress.
const maxProgressLine = 4 << 10

// maker makes reports in a process of their own, which has the lower
// priority and goes first when memory runs out: collecting comes before looking.
func maker(env console.Env, format string) web.Maker {
	return func(ctx context.Context, dir string, w io.Writer, progress func(web.Progress)) error {
		self, err := env.Executable()
		if err != nil {
			return fmt.Errorf("finding this program: %w", err)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		lines, theirs, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("making a report: %w", err)
		}
		defer lines.Close()
		var errs bytes.Buffer
		out := &stopping{to: w, stop: cancel}
		cmd := exec.CommandContext(ctx, self, MadeVerb, format, "--", dir)
		cmd.Env = []string{"PATH=" + env.Getenv("PATH"), "TMPDIR=" + env.Getenv("TMPDIR"), "GOMAXPROCS=1"} // no secrets
		if objectstore.Remote(dir) {
			cmd.Env = append(cmd.Env, storeVariables()...)
		}
		cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, &errs, []*os.File{theirs}
		cmd.SysProcAttr = withUs()
		err = cmd.Start()
		theirs.Close()
		if err != nil {
			return fmt.Errorf("making a report: %w", err)
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, cmd.Process.Pid, 10)                                    // a matter of courtesy
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("1000"), 0o600) // and to be killed first
		readProgress(lines, progress)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("making a report: %w: %.400s", errors.Join(err, out.err, ctx.Err()), errs.String())
		}
		return nil
	}
}

// storeVariables are what it takes to read an object store: credentials by the usual chain, and the way there.
func storeVariables() (list []string) {
	others := []string{"HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "MINIO_") || slices.Contains(others, name) {
			list = append(list, v)
		}
	}
	return list
}

// stopping ends the process that writes when its output cannot be kept.
type stopping struct {
	to   io.Writer
	stop func()
	err  error
}

func (s *stopping) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if err != nil {
		s.err = err
		s.stop()
	}
	return n, err
}

// readProgress passes on the lines of a process until it ends.
func readProgress(r io.Reader, progress func(web.Progress)) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxProgressLine)
	for lines.Scan() {
		var p web.Progress
		if json.Unmarshal(lines.Bytes(), &p) == nil {
			progress(p)
		}
	}
}

// pageVersion changes with the program: its file is another one then.
func pageVersion(env console.Env) string {
	path, err := env.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:8])
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a shadow that serves.
type process struct {
	cmd       *exec.Cmd
	store     string
	bus, page string
	ended     chan struct{}
	err       error // after ended
}

var addresses = regexp.MustCompile(`bus (\S+), page (http\S+/), store`)

// startShadow starts shadow serve; its lines go to a file in dir.
func startShadow(ctx context.Context, command, dir string, args ...string) (*process, error) {
	x := &process{store: filepath.Join(dir, "store"), ended: make(chan struct{})}
	if err := os.MkdirAll(x.store, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "shadow.log"))
	if err != nil {
		return nil, err
	}
	args = append([]string{"serve", "--store", x.store, "--http", "127.0.0.1:0", "--counters=false"}, args...)
	x.cmd = exec.CommandContext(ctx, command, args...)
	x.cmd.Cancel = func() error { return x.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := x.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	found := make(chan struct{})
	go func() {
		defer close(x.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Fprintln(log, lines.Text())
			if m := addresses.FindStringSubmatch(lines.Text()); m != nil && x.bus == "" {
				x.bus, x.page = m[1], m[2]
				close(found)
			}
		}
		x.err = x.cmd.Wait()
	}()
	select {
	case <-found:
		return x, nil
	case <-x.ended:
		return nil, fmt.Errorf("the shadow ended at once: %v; see %s", x.err, log.Name())
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("the shadow did not start within a minute; see %s", log.Name())
	}
}

// stop ends it as an operator does.
func (x *process) stop() error {
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-x.ended:
		return x.err
	case <-time.After(5 * time.Minute):
		_ = x.cmd.Process.Kill()
		return fmt.Errorf("the shadow did not end within five minutes")
	}
}

// kill ends it as a crash does.
func (x *process) kill() error {
	_ = x.cmd.Process.Kill()
	<-x.ended
	return nil
}

// sample is what a process used at a moment.
type sample struct {
	at         time.Time
	cpu        time.Duration
	rss        int64
	heap       float64
	goroutines float64
	running    float64
	batches    float64
	waiting    float64
	written    int64 // bytes, to disks
}

func (a *sample) add(b sample) {
	a.at = b.at
	a.cpu += b.cpu
	a.rss += b.rss
	a.heap += b.heap
	a.goroutines += b.goroutines
	a.running += b.running
	a.batches += b.batches
	a.waiting += b.waiting
	a.written += b.written
}

func (x *process) sample() (sample, error) {
	s := sample{at: time.Now()}
	var err error
	if s.cpu, s.rss, err = usage(x.cmd.Process.Pid); err != nil {
		return s, err
	}
	s.written = written(x.cmd.Process.Pid)
	r, err := http.Get(x.page + "metrics")
	if err != nil {
		return s, err
	}
	defer r.Body.Close()
	names := map[string]*float64{"go_goroutines": &s.goroutines, "go_memstats_heap_inuse_bytes": &s.heap,
		"stackagent_sessions_running": &s.running, "stackagent_batches_received_total": &s.batches, "stackagent_sessions_waiting": &s.waiting}
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if into := names[name]; into != nil {
			if *into, err = strconv.ParseFloat(value, 64); err != nil {
				return s, err
			}
		}
	}
	_, _ = io.Copy(io.Discard, r.Body)
	return s, lines.Err()
}

// usage is the CPU time and the resident memory of a process.
func usage(pid int) (cpu time.Duration, rss int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	pages, err := strconv.ParseInt(f[21], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, pages * int64(os.Getpagesize()), err
}

// written is what a process has written to files, in bytes; 0 where that is not known.
func written(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "write_bytes: "); ok {
			v, _ := strconv.ParseInt(n, 10, 64)
			return v
		}
	}
	return 0
}

package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc/monitor"
	"stackagent/hpc/monitor/jvm"
	"stackagent/hpc/monitor/kernel"
	"stackagent/internal/monitorspec"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// Groups are the groups of monitors that --monitors may name.
func Groups() []monitor.Group {
	return append(append([]monitor.Group{jvm.Group()}, kernel.Groups()...), inside...)
}

// inside are the groups that the agent reads inside the JVM; their names are values of its option monitor=.
var inside = []monitor.Group{
	{Name: monitorspec.InsideWord, Layer: monitor.Libraries, Doc: "thread pools, buffers, exceptions, finalizers, code cache: read by the agent",
		Prefixes: []string{"pool.", "lib.buffers.", "lib.exceptions.", "lib.finalizers.", "vm.code_cache."}, Open: nothing},
	{Name: monitorspec.RegistriesWord, Layer: monitor.Application, Doc: "meters of Micrometer and Dropwizard: read by the agent",
		Prefixes: []string{"app.micrometer.", "app.dropwizard."}, Open: nothing},
}

// nothing is to be read from outside.
func nothing(monitor.Target) (monitor.Source, error) { return noSource{}, nil }

type noSource struct{}

func (noSource) Read(units.MonoNs, monitor.Sink) error { return nil }
func (noSource) Close() error                          { return nil }

// Inside are the values of the agent's option monitor= that the flags stand for.
func (f *MonitorFlags) Inside() (words []string) {
	selection, _ := monitor.ParseSelection(f.List, Groups()) // Check has reported it
	for _, g := range inside {
		if selection.Group(g) {
			words = append(words, g.Name)
		}
	}
	return words
}

// MonitorFlags are the flags that say which monitors are sampled, and how often.
type MonitorFlags struct {
	List     string
	Interval time.Duration
}

// AddTo gives a verb the flags.
func (f *MonitorFlags) AddTo(flags *pflag.FlagSet) {
	names := []string{monitor.All, monitor.None}
	for _, g := range Groups() {
		names = append(names, g.Name)
	}
	flags.StringVar(&f.List, "monitors", monitor.None, "sample these monitors for shadow vertical: a `list` of "+strings.Join(names, ", ")+", or names such as vm.gc.*")
	flags.DurationVar(&f.Interval, "monitor-interval", monitor.DefaultInterval, fmt.Sprintf("time between samples, %v to %v", monitor.LeastInterval, monitor.MostInterval))
}

// Check refuses what cannot be sampled.
func (f *MonitorFlags) Check() error {
	if f.List == "" { // of a verb without these flags
		return nil
	}
	if f.Interval < monitor.LeastInterval || f.Interval > monitor.MostInterval {
		return console.Usagef("--monitor-interval %v: use %v to %v", f.Interval, monitor.LeastInterval, monitor.MostInterval)
	}
	if _, err := monitor.ParseSelection(f.List, Groups()); err != nil {
		return console.Usagef("--monitors %s: %w", f.List, err)
	}
	return nil
}

// Monitors samples the monitors of the JVMs that have a session on this host. Nil samples nothing.
type Monitors struct {
	env       console.Env
	root      string // of the sessions' folders
	finder    *jvmprocess.Finder
	selection monitor.Selection
	interval  time.Duration

	mu       sync.Mutex
	byPID    map[int]*monitor.Sampler
	sessions map[string]int // folder -> process whose samples it has; 0: none
}

// Start is nil if nothing is to be sampled. The flags are checked.
func (f *MonitorFlags) Start(env console.Env, root string, finder *jvmprocess.Finder) *Monitors {
	selection, _ := monitor.ParseSelection(f.List, Groups()) // Check has reported it
	if selection.Empty() {
		return nil
	}
	return &Monitors{env: env, root: root, finder: finder, selection: selection, interval: f.Interval,
		byPID: map[int]*monitor.Sampler{}, sessions: map[string]int{}}
}

// Watch begins to sample a process whose session may come.
func (m *Monitors) Watch(pid int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin(pid)
}

// begin needs m.mu.
func (m *Monitors) begin(pid int) *monitor.Sampler {
	if s := m.byPID[pid]; s != nil {
		if !s.Ended() || !proc.Alive(pid) {
			return s // also of a process that has ended, whose session comes only now
		}
		m.end(pid) // another process has its number now
	}
	s, err := monitor.Start(monitor.Options{Target: monitor.Target{PID: pid, Interval: m.interval}, Groups: Groups(), Selection: m.selection})
	if err != nil {
		m.env.Note("not sampling process %d: %s", pid, text.OneLine(err.Error()))
		return nil
	}
	m.byPID[pid] = s
	return s
}

// Progress begins the samples of a JVM's session, once, and ends them with it.
func (m *Monitors) Progress(p ingest.Progress) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	pid, known := m.sessions[p.Folder]
	switch {
	case known && p.Ended != store.EndedRunning:
		m.end(pid)
		m.sessions[p.Folder] = 0
	case !known:
		m.keep(p)
	}
}

// keep needs m.mu.
func (m *Monitors) keep(p ingest.Progress) {
	pid, err := m.finder.Find(p, m.byPID[m.finder.Number(p)] != nil)
	m.sessions[p.Folder] = 0
	if err != nil {
		m.env.Note("not sampling process %d: %s", p.JVM.PID, text.OneLine(err.Error()))
		_ = monitor.Refuse(filepath.Join(m.root, p.Folder, monitor.Folder), p.JVM.PID, m.interval, err) // else the session does not say why
		return
	}
	s := m.begin(pid)
	if s == nil {
		return
	}
	s.Keep(filepath.Join(m.root, p.Folder, monitor.Folder))
	m.sessions[p.Folder] = pid
	if p.Ended != store.EndedRunning {
		m.end(pid)
	}
}

// end needs m.mu.
func (m *Monitors) end(pid int) {
	s := m.byPID[pid]
	if s == nil {
		return
	}
	delete(m.byPID, pid)
	if err := s.Stop(); err != nil {
		m.env.Note("samples of process %d: %s", pid, text.OneLine(err.Error()))
	}
}

// End ends all samples.
func (m *Monitors) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for pid := range m.byPID {
		m.end(pid)
	}
}

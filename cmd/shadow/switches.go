package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc/sched"
	"stackagent/internal/text"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

// switches records what the scheduler does with the threads of the JVMs that
// have a session on this host. Its zero value and nil record nothing.
type switches struct {
	locks    map[string]*os.File // of records that this shadow writes, by session folder
	env      Env
	finder   *jvmprocess.Finder
	root     string // of the sessions' folders
	observer *sched.Observer
	why      error // why there is none

	mu    sync.Mutex
	kept  map[string]bool // by the session's folder
	order []string        // of kept, oldest first
}

// maxKept bounds the sessions of which is remembered that their record was
// begun. To begin that of one again changes nothing: the observer knows it, or
// what it left is there.
const maxKept = 16 << 10

// first reports whether a session is seen for the first time, and remembers it.
func (s *switches) first(folder string) bool {
	if s.kept[folder] {
		return false
	}
	s.kept[folder] = true
	if s.order = append(s.order, folder); len(s.order) > maxKept {
		delete(s.kept, s.order[0])
		s.order = s.order[1:]
	}
	return true
}

// addSwitches gives a verb the flag --switches.
func addSwitches(flags *pflag.FlagSet, into *string) {
	flags.StringVar(into, "switches", string(sched.Auto), strings.Join(sched.Choices, "|")+": how to record what the scheduler does with the JVM's threads")
}

func checkSwitches(choice string) error {
	if !slices.Contains(sched.Choices, choice) {
		return usagef("--switches %s: use one of %s", choice, strings.Join(sched.Choices, ", "))
	}
	return nil
}

// startSwitches begins to listen to the scheduler. The sessions record
// what is not available; only a source requested by name is an error.
func startSwitches(env Env, choice sched.Choice, root string, w *jvmprocess.Finder) (*switches, error) {
	s := &switches{env: env, finder: w, root: root, kept: map[string]bool{}}
	if choice == sched.Off {
		return s, nil
	}
	if s.observer, s.why = sched.Start(choice); s.why != nil && choice != sched.Auto {
		return nil, s.why
	}
	if s.observer != nil {
		s.observer.Failed(s.failed)
	}
	return s, nil
}

// failed notes that the scheduling of a JVM cannot be recorded at the moment, or, if
// err is nil, that it is recorded again.
func (s *switches) failed(pid int, err error) {
	if err == nil {
		s.env.note("recording the scheduling of process %d again", pid)
		return
	}
	s.env.note("cannot record the scheduling of process %d at the moment: %s", pid, text.OneLine(err.Error()))
}

// launch calls start; the threads of a process that it starts are observed from
// their first instruction on.
func (s *switches) launch(start func() error) error {
	if s == nil || s.observer == nil {
		return start()
	}
	return s.observer.Launch(start)
}

// watch observes a process that runs from now on; if that fails, keep records why in its session.
func (s *switches) watch(pid int) {
	if s != nil && s.observer != nil {
		_ = s.observer.Watch(pid)
	}
}

// progress begins the record of a JVM's session, once.
func (s *switches) progress(p ingest.Progress) {
	if s == nil || s.observer == nil && s.why == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pid := p.JVM.PID
	if f := s.locks[p.Folder]; f != nil && p.Ended != store.EndedRunning {
		f.Close()
		delete(s.locks, p.Folder)
	}
	if p.Ended != store.EndedRunning && s.observer == nil || !s.first(p.Folder) {
		return
	}
	dir := filepath.Join(s.root, p.Folder, sched.Folder)
	var err error
	switch {
	case s.observer == nil:
		err = sched.Refuse(dir, pid, s.why)
	default:
		err = s.keep(p, dir)
	}
	if err != nil {
		s.env.note("not recording the scheduling of process %d: %s", pid, text.OneLine(err.Error()))
	}
}

// keep begins the record of a JVM in the folder dir, or writes why there is none.
func (s *switches) keep(p ingest.Progress, dir string) error {
	pid, why := s.finder.Find(p, s.observer.Waits(p.JVM.PID))
	if why != nil {
		return sched.Refuse(dir, p.JVM.PID, why)
	}
	held, err := s.lock(p, dir)
	if held || err != nil {
		return err
	}
	err = s.observer.Keep(pid, dir)
	var u *sched.UnavailableError
	if errors.As(err, &u) {
		err = sched.Refuse(dir, p.JVM.PID, u)
	}
	return err
}

// lock makes this shadow the only one that writes the record in dir. held: another on this machine does, which
// had the session before and still observes the JVM.
func (s *switches) lock(p ingest.Progress, dir string) (held bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return errors.Is(err, unix.EWOULDBLOCK), nil
	}
	if s.locks == nil {
		s.locks = map[string]*os.File{}
	}
	if p.Ended == store.EndedRunning {
		s.locks[p.Folder] = f
	} else {
		f.Close()
	}
	return false, nil
}

// end ends all records.
func (s *switches) end() {
	if s == nil || s.observer == nil {
		return
	}
	if err := s.observer.Close(); err != nil {
		s.env.note("scheduling record: %s", text.OneLine(err.Error()))
	}
}

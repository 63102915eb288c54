package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc/sched"
	"stackagent/internal/text"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// Switches records what the scheduler does with the threads of the JVMs that
// have a session on this host. Its zero value and nil record nothing.
type Switches struct {
	locks    map[string]*os.File // of records that this shadow writes, by session folder
	env      console.Env
	finder   *jvmprocess.Finder
	root     string // of the sessions' folders
	observer *sched.Observer
	why      error // why there is none

	mu    sync.Mutex
	kept  map[string]bool // by the session's folder
	order []string        // of kept, oldest first
}

// maxKept bounds the memory of sessions whose record was begun. To begin one again
// is harmless: the observer knows it, or the record it left is there.
const maxKept = 16 << 10

// first reports whether a session is seen for the first time, and remembers it.
func (s *Switches) first(folder string) bool {
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

// AddSwitches gives a verb the flag --switches.
func AddSwitches(flags *pflag.FlagSet, into *string) {
	flags.StringVar(into, "switches", string(sched.Auto), strings.Join(sched.Choices, "|")+": how to record what the scheduler does with the JVM's threads")
}

func CheckSwitches(choice string) error {
	if !slices.Contains(sched.Choices, choice) {
		return console.Usagef("--switches %s: use one of %s", choice, strings.Join(sched.Choices, ", "))
	}
	return nil
}

// StartSwitches begins to listen to the scheduler. The sessions record
// what is not available; only a source requested by name is an error.
func StartSwitches(env console.Env, choice sched.Choice, root string, w *jvmprocess.Finder) (*Switches, error) {
	s := &Switches{env: env, finder: w, root: root, kept: map[string]bool{}}
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
func (s *Switches) failed(pid int, err error) {
	if err == nil {
		s.env.Note("recording the scheduling of process %d again", pid)
		return
	}
	s.env.Note("cannot record the scheduling of process %d at the moment: %s", pid, text.OneLine(err.Error()))
}

// Launch calls start; the threads of a process that it starts are observed from
// their first instruction on.
func (s *Switches) Launch(start func() error) error {
	if s == nil || s.observer == nil {
		return start()
	}
	return s.observer.Launch(start)
}

// Watch observes a process that runs from now on; if that fails, keep records why in its session.
func (s *Switches) Watch(pid int) {
	if s != nil && s.observer != nil {
		_ = s.observer.Watch(pid)
	}
}

// Progress begins the record of a JVM's session, once.
func (s *Switches) Progress(p ingest.Progress) {
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
		s.env.Note("not recording the scheduling of process %d: %s", pid, text.OneLine(err.Error()))
	}
}

// keep begins the record of a JVM in the folder dir, or writes why there is none.
func (s *Switches) keep(p ingest.Progress, dir string) error {
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
func (s *Switches) lock(p ingest.Progress, dir string) (held bool, err error) {
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

// Finish ends the record of a process.
func (s *Switches) Finish(pid int) error {
	if s == nil || s.observer == nil {
		return nil
	}
	return s.observer.Finish(pid)
}

// End ends all records.
func (s *Switches) End() {
	if s == nil || s.observer == nil {
		return
	}
	if err := s.observer.Close(); err != nil {
		s.env.Note("scheduling record: %s", text.OneLine(err.Error()))
	}
}

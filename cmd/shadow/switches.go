package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"stackagent/hpc/sched"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

// switches records what the scheduler does with the threads of the JVMs that
// have a session on this host. Its zero value and nil record nothing.
type switches struct {
	env      Env
	host     string
	root     string // of the sessions' folders
	observer *sched.Observer
	why      error // why there is none

	mu   sync.Mutex
	kept map[int]string // the session's folder, by process
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

// startSwitches begins to listen to the scheduler. What can not be had is told
// in the sessions; only a source that was asked for by its name is an error.
func startSwitches(env Env, choice sched.Choice, root string) (*switches, error) {
	host, _ := os.Hostname() // without a name no JVM matches
	s := &switches{env: env, host: host, root: root, kept: map[int]string{}}
	if choice == sched.Off {
		return s, nil
	}
	if s.observer, s.why = sched.Start(choice); s.why != nil && choice != sched.Auto {
		return nil, s.why
	}
	return s, nil
}

// launch calls start; the threads of a process that it starts are observed from
// their first instruction on.
func (s *switches) launch(start func() error) error {
	if s == nil || s.observer == nil {
		return start()
	}
	return s.observer.Launch(start)
}

// progress begins the record of a JVM's session, once.
func (s *switches) progress(p ingest.Progress) {
	if s == nil || p.JVM.Host != s.host || s.observer == nil && s.why == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pid := p.JVM.PID
	if _, known := s.kept[pid]; known || p.Ended != store.EndedRunning && s.observer == nil {
		return
	}
	s.kept[pid] = p.Folder
	dir := filepath.Join(s.root, p.Folder, sched.Folder)
	var err error
	switch {
	case s.observer == nil:
		err = sched.Refuse(dir, pid, s.why)
	case !alive(pid) && !s.observer.Knows(pid):
		err = sched.Refuse(dir, pid, errors.New("the JVM had ended before the shadow heard of it"))
	default:
		err = s.observer.Keep(pid, dir)
		var u *sched.UnavailableError
		if errors.As(err, &u) {
			err = sched.Refuse(dir, pid, u)
		}
	}
	if err != nil {
		s.env.note("scheduling of the JVM with process id %d is not recorded: %s", pid, oneLine(err))
	}
}

// end ends all records.
func (s *switches) end() {
	if s == nil || s.observer == nil {
		return
	}
	if err := s.observer.Close(); err != nil {
		s.env.note("scheduling record: %s", oneLine(err))
	}
}

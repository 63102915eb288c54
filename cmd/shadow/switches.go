package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/launch"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/attach"
	"stackagent/internal/units"
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
	kept map[string]bool // by the session's folder
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
	s := &switches{env: env, host: host, root: root, kept: map[string]bool{}}
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
	if s.kept[p.Folder] || p.Ended != store.EndedRunning && s.observer == nil {
		return
	}
	s.kept[p.Folder] = true
	dir := filepath.Join(s.root, p.Folder, sched.Folder)
	var err error
	switch {
	case s.observer == nil:
		err = sched.Refuse(dir, pid, s.why)
	default:
		err = s.keep(p, dir)
	}
	if err != nil {
		s.env.note("scheduling of the JVM with process id %d is not recorded: %s", pid, oneLine(err))
	}
}

// keep begins the record of a JVM in the folder dir, or writes why there is none.
func (s *switches) keep(p ingest.Progress, dir string) error {
	pid := p.JVM.PID
	if !s.observer.Waits(pid) { // it was not launched here: a number alone may be anybody's
		if why := isJVM(pid, p.StartNs); why != nil {
			return sched.Refuse(dir, pid, why)
		}
	}
	err := s.observer.Keep(pid, dir)
	var u *sched.UnavailableError
	if errors.As(err, &u) {
		err = sched.Refuse(dir, pid, u)
	}
	return err
}

// isJVM says why the process pid can not be the JVM that calls itself so and
// whose session began at start: a container has numbers of its own, and a number
// is given again when its process has ended.
func isJVM(pid int, start units.MonoNs) error {
	if !alive(pid) {
		return fmt.Errorf("process %d had ended before the shadow heard of it, or runs where its number is another one (a container); "+
			"run the shadow where the JVM runs, or with the host's process numbers (docker run --pid host)", pid)
	}
	p, err := attach.Look(pid, launch.LibraryName)
	seen := !errors.Is(err, fs.ErrPermission) // without that its number and its age must do
	if seen && err != nil {
		return err
	}
	if p.InnerPID != pid {
		return fmt.Errorf("process %d on this side is another one than the JVM: it calls itself %d; run the shadow in the JVM's container, or both with the host's process numbers", pid, p.InnerPID)
	}
	if seen && p.LibJVM == "" {
		return fmt.Errorf("process %d on this side is no JVM; run the shadow where the JVM runs, or with the host's process numbers (docker run --pid host)", pid)
	}
	const coarse = units.MonoNs(time.Second) // ticks of 10 ms, and the JVM's clock is fitted
	began, err := hpc.Started(pid)
	if err == nil && start > 0 && began > start+coarse {
		err = fmt.Errorf("the JVM has ended: process %d began later than the session", pid)
	}
	return err
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

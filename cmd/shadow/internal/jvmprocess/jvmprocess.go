// Package jvmprocess finds the process of a session's JVM, as this side numbers it.
package jvmprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"stackagent/internal/attach"
	"stackagent/internal/launch"
	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
)

// A Finder finds the process that is a session's JVM. Its number is not enough: a container and
// another host have numbers of their own, and the system reuses the number of a process that has ended.
type Finder struct {
	Host     string          // this one; "" matches no JVM
	Attached *attach.Process // of shadow attach, whose bus has no other JVM; or nil

	mu        sync.Mutex
	announced announced
}

// NewFinder returns a finder for this host.
func NewFinder() *Finder {
	host, _ := os.Hostname() // without a name no JVM matches
	return &Finder{Host: host}
}

// known is the process of a session whose JVM was announced.
func (f *Finder) known(p ingest.Progress) (pid int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, ok = f.announced.pids[p.Process]
	return pid, ok
}

// Number is the process's on this side, if it is what its session says.
func (f *Finder) Number(p ingest.Progress) int {
	if f.Attached != nil && f.Attached.InnerPID == p.JVM.PID {
		return f.Attached.PID
	}
	if pid, ok := f.known(p); ok {
		return pid
	}
	return p.JVM.PID
}

// Find returns the process, or why it is not known. launched says that this shadow started it, by the
// number that the JVM calls itself.
func (f *Finder) Find(p ingest.Progress, launched bool) (int, error) {
	pid, announced := f.known(p)
	switch {
	case f.Attached != nil && f.Attached.InnerPID == p.JVM.PID:
		return f.Number(p), nil
	case announced:
		return pid, nil
	case p.JVM.Host != f.Host || f.Host == "":
		return 0, fmt.Errorf("the JVM runs on host %q (or in a container of that name), this shadow on %q; "+
			"run a shadow there, or, if it is this machine, shadow attach with the process id that it has here", p.JVM.Host, f.Host)
	case launched:
		return p.JVM.PID, nil
	}
	return p.JVM.PID, IsJVM(p.JVM.PID, p.StartNs)
}

// StartSlack is how precisely the begins of a process and of a session compare: a process begins at a
// tick of 10 ms, and the JVM's clock is fitted.
const StartSlack = units.MonoNs(1e9)

// IsJVM returns why process pid cannot be the JVM that calls itself so and whose session began at start.
func IsJVM(pid int, start units.MonoNs) error {
	if !proc.Alive(pid) {
		return fmt.Errorf("process %d had ended before the shadow saw it, or runs where its number is another one (a container); "+
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
	began, err := proc.Started(pid)
	if err == nil && start > 0 && began > start+StartSlack {
		err = fmt.Errorf("the JVM has ended: process %d began later than the session", pid)
	}
	return err
}

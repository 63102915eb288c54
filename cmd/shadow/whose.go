package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"stackagent/cmd/shadow/internal/launch"
	"stackagent/internal/attach"
	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/shadow/ingest"
)

// A whose finds the process that is a session's JVM, as this side numbers it.
// Its number alone tells nothing: a container has numbers of its own, another
// host too, and a number is given again when its process has ended.
type whose struct {
	host     string          // this one; "" is nobody's
	attached *attach.Process // of shadow attach, whose bus has no other JVM; or nil
}

// newWhose is one for this host.
func newWhose() *whose {
	host, _ := os.Hostname() // without a name no JVM matches
	return &whose{host: host}
}

// number is the process's on this side, if it is what its session says.
func (w *whose) number(p ingest.Progress) int {
	if w.attached != nil && w.attached.InnerPID == p.JVM.PID {
		return w.attached.PID
	}
	return p.JVM.PID
}

// find gives the process, or says why it can not be told. launched says that
// this shadow started it, by the number that the JVM calls itself.
func (w *whose) find(p ingest.Progress, launched bool) (int, error) {
	switch {
	case w.attached != nil && w.attached.InnerPID == p.JVM.PID:
		return w.number(p), nil
	case p.JVM.Host != w.host || w.host == "":
		return 0, fmt.Errorf("the JVM runs on host %q (or in a container of that name), this shadow on %q; "+
			"run a shadow there, or, if it is this machine, shadow attach with the process id that it has here", p.JVM.Host, w.host)
	case launched:
		return p.JVM.PID, nil
	}
	return p.JVM.PID, isJVM(p.JVM.PID, p.StartNs)
}

// startSlack is how well the begin of a process and that of a session can be
// compared: ticks of 10 ms, and the JVM's clock is fitted.
const startSlack = units.MonoNs(1e9)

// isJVM says why the process pid can not be the JVM that calls itself so and
// whose session began at start.
func isJVM(pid int, start units.MonoNs) error {
	if !proc.Alive(pid) {
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
	began, err := proc.Started(pid)
	if err == nil && start > 0 && began > start+startSlack {
		err = fmt.Errorf("the JVM has ended: process %d began later than the session", pid)
	}
	return err
}

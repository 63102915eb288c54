// Package announce is what an agent and the observers of its host say to each other on the bus: the agent announces its
// JVM, an observer answers. Both messages arrive from another process and are hostile until parsed.
package announce

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Version of the messages. A reader refuses others.
const Version = 1

// maxBytes bounds a message.
const maxBytes = 4 << 10

// Limits of what the fields hold.
const (
	maxHostID = 64
	maxName   = 256
	maxPID    = 1 << 22 // the kernel's own limit
)

// Subjects are those of all announcements.
const Subjects = prefix + ">"

const prefix = "stackagent.v1.announce."

// Subject is where the JVMs of a host are announced.
func Subject(hostID string) string { return prefix + hostID }

// JVM announces one. The numbers of the process are those of its own namespace.
type JVM struct {
	Version      int          `json:"version"`
	Session      string       `json:"session"`
	Process      string       `json:"process"`                 // wire.Batch.Process: unguessable for who has not seen it
	HostID       string       `json:"host_id"`                 // the kernel's boot id
	PID          int          `json:"pid"`                     // as the process calls itself
	PIDNamespace uint64       `json:"pid_namespace,omitempty"` // 0: not known
	StartTicks   uint64       `json:"start_ticks"`             // when the process began, clock ticks since boot: the same in every namespace
	LoadedNs     units.MonoNs `json:"loaded_ns"`               // when the JVM loaded the agent, CLOCK_MONOTONIC
}

// Answer says that the JVM is observed. An observer that cannot observe it does not answer.
type Answer struct {
	Version  int          `json:"version"`
	Observer string       `json:"observer"` // what observes and where, for people
	FromNs   units.MonoNs `json:"from_ns"`  // since when, CLOCK_MONOTONIC
}

// Self announces the process that calls it.
func Self(session, process string, loaded units.MonoNs) (JVM, error) {
	host, err := HostID()
	if err != nil {
		return JVM{}, err
	}
	stat, err := proc.Self.Stat()
	if err != nil {
		return JVM{}, fmt.Errorf("when this process began: %w", err)
	}
	namespace, _ := proc.Self.PIDNamespace() // without it the number and the start must do
	return JVM{Version: Version, Session: session, Process: process, HostID: host, PID: os.Getpid(),
		PIDNamespace: namespace, StartTicks: stat.Start, LoadedNs: loaded}, nil
}

// HostID is the identity of this host: its kernel's boot id.
func HostID() (string, error) {
	id, err := proc.BootID()
	if err != nil {
		return "", fmt.Errorf("the host's boot id: %w", err)
	}
	return id, ValidHostID(id)
}

// ValidHostID returns why a text is no host id, nil if it is one. An id is a token of a subject.
func ValidHostID(id string) error {
	foreign := func(r rune) bool { return !strings.ContainsRune("0123456789abcdef-", r) }
	if id == "" || len(id) > maxHostID || strings.ContainsFunc(id, foreign) {
		return fmt.Errorf("%.80q is no host id: want 1 to %d of 0-9 a-f -", id, maxHostID)
	}
	return nil
}

// Encode writes a message.
func Encode[T JVM | Answer](m T) []byte {
	b, _ := json.Marshal(m) // strings and numbers only: it does not fail
	return b
}

// ParseJVM parses an announcement.
func ParseJVM(b []byte) (JVM, error) {
	var m JVM
	if err := parse(b, &m); err != nil {
		return JVM{}, err
	}
	if m.Process == "" {
		return JVM{}, errors.New("announcement: it names no process")
	}
	switch err := errors.Join(wire.ValidSession(m.Session), wire.ValidProcess(m.Process), ValidHostID(m.HostID)); {
	case m.Version != Version:
		return JVM{}, fmt.Errorf("announcement: version %d, this program knows %d", m.Version, Version)
	case err != nil:
		return JVM{}, fmt.Errorf("announcement: %w", err)
	case m.PID < 1 || m.PID > maxPID:
		return JVM{}, fmt.Errorf("announcement: process id %d", m.PID)
	case m.LoadedNs < 0:
		return JVM{}, fmt.Errorf("announcement: time %d", m.LoadedNs)
	}
	return m, nil
}

// ParseAnswer parses an answer.
func ParseAnswer(b []byte) (Answer, error) {
	var m Answer
	if err := parse(b, &m); err != nil {
		return Answer{}, err
	}
	switch {
	case m.Version != Version:
		return Answer{}, fmt.Errorf("answer: version %d, this program knows %d", m.Version, Version)
	case len(m.Observer) > maxName || m.FromNs < 0:
		return Answer{}, errors.New("answer: a field is out of bounds")
	}
	return m, nil
}

func parse(b []byte, into any) error {
	if len(b) > maxBytes {
		return fmt.Errorf("announcement of %d bytes, the limit is %d", len(b), maxBytes)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("announcement: %w", err)
	}
	return nil
}

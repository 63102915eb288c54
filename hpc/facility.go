package hpc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Answer is the result of a check: one of three.
type Answer string

// The answers. Unknown means that the check itself could not be made.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// Facility is something that a machine may or may not allow.
type Facility struct {
	Name      string `json:"check"`
	Available Answer `json:"result"`
	Detail    string `json:"detail"`           // what was found, or why it could not be found out
	Remedy    string `json:"remedy,omitempty"` // what to do; empty when nothing needs doing
}

// NotAvailableError says that an event cannot be counted here.
type NotAvailableError struct {
	Event  Event
	Reason string // why, in one sentence without a full stop
	Remedy string // what would help; may be empty
	Err    error  // the cause; may be nil
}

func (e *NotAvailableError) Error() string {
	s := fmt.Sprintf("%s not available: %s", e.Event, e.Reason)
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *NotAvailableError) Unwrap() error { return e.Err }

// roots is the root of the file system that the probes read. Tests set a folder.
type roots struct{ root string }

func (r roots) path(p string) string { return r.root + p }

// read returns the trimmed text of a small file.
func (r roots) read(p string) (string, error) {
	b, err := os.ReadFile(r.path(p))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", p, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// exists has three answers, too: a permission error is not an absence.
func (r roots) exists(p string) Answer {
	_, err := os.Stat(r.path(p))
	switch {
	case err == nil:
		return Yes
	case errors.Is(err, fs.ErrNotExist):
		return No
	default:
		return Unknown
	}
}

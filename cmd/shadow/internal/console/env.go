// Package console gives a verb its streams, environment and clock, the notes it prints to stderr, its progress
// bar, and the sessions it opens.
package console

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
)

// Env is the outside of the command: streams, environment and clock. Tests set their own.
type Env struct {
	In         io.Reader
	Out, Err   io.Writer
	Environ    []string
	Executable func() (string, error)
	Now        func() time.Time

	Signals  *Signals     // end the command; nil: none does
	Sessions *Sessions    // how sessions are opened, and those that were; nil: whole ones only
	Log      *slog.Logger // takes the notes; nil: they are plain lines on Err
}

// System is the real world.
func System() Env {
	return Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Executable: os.Executable, Now: time.Now}
}

// Getenv looks up a variable; if there are several of the name, the last counts.
func (e Env) Getenv(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// Note prints a message to stderr, apart from the output.
func (e Env) Note(format string, args ...any) {
	if e.Log != nil {
		e.Log.Info(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintf(e.Err, "shadow: "+format+"\n", args...)
}

// Logger is what packages of the shadow log to.
func (e Env) Logger() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

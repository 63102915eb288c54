package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stackagent/hpc"
	"stackagent/internal/text"
)

// OutputName is the file of a run's folder that holds what the command printed.
const OutputName = "output.log"

const (
	longestOutput = 8 << 20 // bytes of a run that are kept
	longestRead   = 4 << 10 // bytes of a line that are looked at
)

// Output takes what a run prints. It keeps the beginning in a file, and looks at each line for what tells how the
// run went.
type Output struct {
	mu      sync.Mutex
	file    *os.File
	room    int
	err     error
	line    []byte
	check   *regexp.Regexp
	checked bool
	memory  string // the line that tells of an OutOfMemoryError
	jvm     string // the line in which the JVM refuses to start
	last    string // line that is not empty
}

// NewOutput writes to the file at path. check, if not nil, is what a line of a good run matches.
func NewOutput(path string, check *regexp.Regexp) (*Output, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeping the output of a run: %w", err)
	}
	return &Output{file: f, room: longestOutput, check: check}, nil
}

// Write never fails: the command is not to notice that the disk is full.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(b)
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		o.line = append(o.line, part[:min(len(part), max(0, longestRead-len(o.line)))]...)
		if ended {
			o.see()
		}
		rest = after
	}
	return len(b), nil
}

// Notes takes what others than the command have to say about the run: it goes into the file only.
func (o *Output) Notes() io.Writer { return notes{o} }

type notes struct{ *Output }

func (n notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Output.keep(b)
	return len(b), nil
}

// keep writes to the file while there is room.
func (o *Output) keep(b []byte) {
	if kept := b[:min(len(b), o.room)]; len(kept) > 0 && o.err == nil {
		_, o.err = o.file.Write(kept)
		o.room -= len(kept)
	}
}

// What a JVM says before it gives up.
var refusals = []string{
	"Error occurred during initialization of VM", "Error: Could not create the Java Virtual Machine", "Unrecognized VM option", "Error: VM option",
	"Invalid maximum heap size", "Too small maximum heap", "Could not reserve enough space", "Initial heap size set to a larger value", "Option -XX:", "Error: Option ",
	"Conflicting collector combinations",
}

// What it says before it gives up for want of heap.
var tooSmall = []string{"Too small maximum heap", "Invalid maximum heap size", "GC triggered before VM initialization completed"}

func (o *Output) see() {
	line := strings.TrimSpace(string(o.line))
	o.line = o.line[:0]
	if line == "" {
		return
	}
	o.last = line
	o.checked = o.checked || o.check != nil && o.check.MatchString(line)
	if o.memory == "" && strings.Contains(line, "java.lang.OutOfMemoryError") {
		o.memory = line
	}
	for _, r := range refusals {
		// The line after the general one tells the reason.
		if strings.HasPrefix(line, r) && (o.jvm == "" || o.jvm == refusals[0]) {
			o.jvm = line
			return
		}
	}
	if o.jvm == refusals[0] {
		o.jvm = line
	}
}

// Close ends the file.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.see()
	if err := errors.Join(o.err, o.file.Close()); err != nil {
		return fmt.Errorf("keeping the output of a run: %w", err)
	}
	return nil
}

// End says how a command ended whose output went here.
type End struct {
	Code     int // its exit code, or 128 + the number of the signal that ended it
	Signal   string
	TimedOut string // after what time it was ended; "": it was not
	Usage    hpc.Usage
}

// Outcome judges a run whose output was not looked at.
func (e End) Outcome() Outcome { return new(Output).Outcome(e) }

// Outcome judges the run, after Close.
func (o *Output) Outcome(e End) Outcome {
	out := Outcome{Code: e.Code, Usage: e.Usage}
	fail := func(f Failure, why string) Outcome {
		out.Failure, out.Why = f, oneLine(why)
		return out
	}
	switch {
	case e.TimedOut != "":
		return fail(TimeOut, "ended after "+e.TimedOut)
	case e.Code != 0 && o.memory != "":
		return fail(OutOfMemory, o.memory)
	case e.Code == 1 && o.jvm != "":
		if slices.ContainsFunc(tooSmall, func(s string) bool { return strings.HasPrefix(o.jvm, s) }) {
			return fail(OutOfMemory, o.jvm)
		}
		return fail(NoJVM, o.jvm)
	case e.Signal != "":
		return fail(Signal, e.Signal)
	case e.Code != 0:
		return fail(ExitCode, fmt.Sprintf("%d; its last line: %s", e.Code, o.last))
	case o.check != nil && !o.checked:
		return fail(Check, fmt.Sprintf("no line of its output matches %s; its last: %s", o.check, o.last))
	}
	return out
}

// longestWhy bounds what is kept of a line that the command printed.
const longestWhy = 300

func oneLine(s string) string { return text.Cut(text.OneLine(s), longestWhy) }

// Package deopt keeps the deoptimisations of a run: when a JVM left compiled code because a guess of the compiler was wrong.
package deopt

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackagent/hpc"
	"stackagent/internal/units"
)

// FileName is the file of a session folder that holds the deoptimisations.
const FileName = "deopts.json"

// FileVersion is the version of the file that this package writes and reads.
const FileVersion = 1

const (
	// Max bounds the deoptimisations of a run. Further ones are counted, not kept.
	Max = 65_536
	// maxName bounds what is kept of a method's name, in bytes.
	maxName = 512
	// maxLine bounds a line of the JVM's log.
	maxLine = 64 << 10
)

// File is the content of deopts.json.
type File struct {
	Version int     `json:"version"`
	Events  []Event `json:"deopts"`
	// From is when the list begins; 0: with the JVM. The JVM overwrites the begin of a log that grows too long.
	From    units.MonoNs `json:"from_ns"`
	Dropped uint64       `json:"dropped"` // after the first Max
	Unread  uint64       `json:"unread"`  // lines of the log that are in no known form
}

// Event is one deoptimisation.
type Event struct {
	At     units.MonoNs `json:"at_ns"`
	Method string       `json:"method"` // as the JVM writes it: com.acme.Job.run()V
	Reason string       `json:"reason"` // in HotSpot's words: unstable_if, class_check, ...
}

// Options are the options that make a JVM log its deoptimisations to a file. The JVM keeps up to twice 16 MB of them.
func Options(log string) string {
	return `-Xlog:deoptimization=debug:file="` + log + `":timenanos:filesize=16M,filecount=1`
}

// Probe is an option that a JVM refuses if it cannot log deoptimisations.
const Probe = "-Xlog:deoptimization=off"

// ErrFile is a deopts.json that this program did not write.
var ErrFile = errors.New("is no list of deoptimisations")

// Write puts f into the folder dir.
func (f *File) Write(dir string) error { return hpc.WriteJSON(filepath.Join(dir, FileName), f) }

// Read reads the deoptimisations of a session folder; nil without an error where none were recorded.
func Read(dir string) (*File, error) { return hpc.ReadBeside(dir, FileName, "deoptimisations", parse) }

func parse(b []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if f.Version != FileVersion {
		return nil, fmt.Errorf("has version %d, this program knows %d: use the version of shadow that wrote it", f.Version, FileVersion)
	}
	if len(f.Events) > Max {
		return nil, fmt.Errorf("%w: %d of them, at most %d are written", ErrFile, len(f.Events), Max)
	}
	for i, e := range f.Events {
		if e.At < 0 || len(e.Method) > maxName || len(e.Reason) > maxName {
			return nil, fmt.Errorf("%w: number %d", ErrFile, i+1)
		}
	}
	return &f, nil
}

// ReadLog reads what a JVM has logged to log, and to the older file beside it if the log grew too long. A log that is missing is an
// error: the JVM makes it at its start.
func ReadLog(log string) (*File, error) {
	f := &File{Version: FileVersion, Events: []Event{}}
	older, err := os.Open(log + ".0")
	switch {
	case err == nil:
		defer older.Close()
		f.scan(older)
		f.From = 1
		if len(f.Events) > 0 {
			f.From = f.Events[0].At
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading the log of deoptimisations: %w", err)
	}
	newer, err := os.Open(log)
	if err != nil {
		return nil, fmt.Errorf("reading the log of deoptimisations: %w", err)
	}
	defer newer.Close()
	f.scan(newer)
	return f, nil
}

// scan adds the lines of r.
func (f *File) scan(r io.Reader) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, long, err := lines.ReadLine()
		if err != nil {
			return // the end, or what can be read of it
		}
		for rest := long; rest && err == nil; {
			_, rest, err = lines.ReadLine()
		}
		e, ok := parseLine(string(line))
		switch {
		case !ok || long:
			f.Unread++
		case len(f.Events) == Max:
			f.Dropped++
		default:
			f.Events = append(f.Events, e)
		}
	}
}

// parseLine reads a line as
//
//	[123ns] cid=  15 osr level=4 com.acme.Job.run()V trap_bci=5 osr_bci=5 unstable_if maybe_recompile pc=0x7f relative_pc=0xdc
//
// The name of the method is the first word after the level: class files allow blanks in names, and then the reason is not known.
func parseLine(line string) (e Event, ok bool) {
	stamp, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "ns] ")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if !ok || err != nil || at < 0 || !strings.HasPrefix(line, "[") || !strings.HasPrefix(rest, "cid=") {
		return e, false
	}
	_, rest, ok = strings.Cut(rest, "level=")
	words := strings.Fields(rest)
	if !ok || len(words) < 2 { // the level, then the method
		return e, false
	}
	e = Event{At: units.MonoNs(at), Method: short(words[1])}
	for i, w := range words[2:] {
		if !strings.HasPrefix(w, "trap_bci=") {
			continue
		}
		for _, word := range words[2+i+1:] {
			if !strings.Contains(word, "=") {
				e.Reason = short(word)
				break
			}
		}
		break
	}
	return e, true
}

// short cuts a name, and makes it valid UTF-8.
func short(name string) string {
	name = strings.ToValidUTF8(name, "?")
	if len(name) > maxName {
		name = name[:maxName]
		for !utf8.ValidString(name) {
			name = name[:len(name)-1]
		}
	}
	return name
}

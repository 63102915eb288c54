// Package jfr takes events of the JVM's flight recorder (JFR) as monitors: the kinds that hsperfdata has no counters for.
// The JVM records just these into a file, and the JDK's own tool reads it when the JVM has ended.
package jfr

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"stackagent/hpc"
	"stackagent/internal/units"
)

// FileName is the file of a session folder with the events.
const FileName = "jfr.json"

// FileVersion is the version of that file.
const FileVersion = 1

// Limits on what is kept.
const (
	Max      = 200_000 // events
	MaxTypes = 64
	maxName  = 256
)

// File are the events of one JVM.
type File struct {
	Version int      `json:"version"`
	Types   []string `json:"types"` // that were asked for
	Events  []Event  `json:"events"`
	Dropped uint64   `json:"dropped"` // after the first Max
}

// Event is one event. Its time is the wall clock's, as JFR has it.
type Event struct {
	WallUnixNs int64    `json:"wall_unix_ns"` // begin
	Ns         units.Ns `json:"duration_ns,omitempty"`
	Type       string   `json:"type"`
	By         string   `json:"by,omitempty"` // its reason, cause, operation or name
	Bytes      int64    `json:"bytes,omitempty"`
}

// by is the field that tells events of a type apart.
var by = map[string]string{
	"jdk.Deoptimization": "reason", "jdk.ExecuteVMOperation": "operation", "jdk.GarbageCollection": "cause", "jdk.GCPhasePause": "name",
	"jdk.GCPhaseConcurrent": "name", "jdk.SafepointStateSynchronization": "", "jdk.CompilerPhase": "phase",
}

// bytes is the field with an amount of bytes.
var bytes = map[string]string{
	"jdk.ObjectAllocationSample": "weight", "jdk.ObjectAllocationInNewTLAB": "tlabSize", "jdk.ObjectAllocationOutsideTLAB": "allocationSize",
	"jdk.FileRead": "bytesRead", "jdk.FileWrite": "bytesWritten", "jdk.SocketRead": "bytesRead", "jdk.SocketWrite": "bytesWritten",
}

// typeName is what the name of a type looks like.
var typeName = regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+$`)

// CheckTypes refuses what is no list of types.
func CheckTypes(types []string) error {
	if len(types) > MaxTypes {
		return fmt.Errorf("%d types of events, at most %d are recorded", len(types), MaxTypes)
	}
	for _, t := range types {
		if len(t) > maxName || !typeName.MatchString(t) {
			return fmt.Errorf("%q is no type of events: use names as jdk.SafepointBegin (jfr metadata lists them)", t)
		}
	}
	return nil
}

// Settings is the content of a file with settings that switch these types on, and nothing else.
func Settings(types []string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration version=\"2.0\" label=\"stackagent\">\n")
	for _, t := range types { // checked: no sign of XML is in them
		fmt.Fprintf(&b, "  <event name=%q>\n    <setting name=\"enabled\">true</setting>\n    <setting name=\"threshold\">0 ms</setting>\n    <setting name=\"stackTrace\">false</setting>\n  </event>\n", t)
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

// Options make a JVM record into a file, and say nothing about it.
func Options(recording, settings string) []string {
	return []string{"-XX:StartFlightRecording=filename=" + recording + ",settings=" + settings + ",dumponexit=true,maxsize=256m", "-Xlog:jfr+startup=off"}
}

// ErrFile is a jfr.json that this program did not write.
var ErrFile = errors.New("is no list of events")

// Write puts f into the folder dir.
func (f *File) Write(dir string) error { return hpc.WriteJSON(filepath.Join(dir, FileName), f) }

// Read reads the events of a session folder; nil without an error where none were recorded.
func Read(dir string) (*File, error) {
	return hpc.ReadBeside(dir, FileName, "events of JFR", parseFile)
}

func parseFile(b []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if f.Version != FileVersion {
		return nil, fmt.Errorf("has version %d, this program knows %d: use the version of shadow that wrote it", f.Version, FileVersion)
	}
	if len(f.Events) > Max || CheckTypes(f.Types) != nil {
		return nil, fmt.Errorf("%w: %d events of %d types", ErrFile, len(f.Events), len(f.Types))
	}
	for i, e := range f.Events {
		if e.Ns < 0 || e.Bytes < 0 || len(e.By) > maxName || !typeName.MatchString(e.Type) {
			return nil, fmt.Errorf("%w: number %d", ErrFile, i+1)
		}
	}
	return &f, nil
}

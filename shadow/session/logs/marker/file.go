// Package marker records the lines of a command's output that mark its iterations.
package marker

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"stackagent/hpc"
	"stackagent/internal/units"
)

// FileName is the file of a session folder that holds the markers.
const FileName = "markers.json"

// FileVersion is the version of the file that this package writes and reads.
const FileVersion = 1

const (
	// MaxMarkers bounds the markers of a run. Further ones are counted, not kept.
	MaxMarkers = 65_536
	// maxLabel bounds what is kept of a marker's line, in bytes.
	maxLabel = 160
)

// File is the content of markers.json. The output is that of the command: if it starts several JVMs,
// each of their sessions has all markers.
type File struct {
	Version int      `json:"version"`
	End     string   `json:"marker"`                 // the pattern of lines that end an iteration
	Begin   string   `json:"marker_begin,omitempty"` // of lines that begin one
	Markers []Marker `json:"markers"`                // in the order of their arrival
	Dropped uint64   `json:"dropped"`                // markers after the first MaxMarkers
	// LongLines were longer than what is matched: their ends were not looked at.
	LongLines uint64 `json:"long_lines"`
}

// Marker is a line that matched.
type Marker struct {
	At     units.MonoNs `json:"at_ns"`           // when its end arrived, CLOCK_MONOTONIC
	Begin  bool         `json:"begin,omitempty"` // it begins an iteration
	Stream string       `json:"stream"`          // stdout or stderr
	Line   string       `json:"line"`            // the first bytes of it, valid UTF-8
}

// ErrFile is a markers.json that this program did not write.
var ErrFile = errors.New("wrong markers")

// Write puts f into the folder dir.
func (f *File) Write(dir string) error { return hpc.WriteJSON(filepath.Join(dir, FileName), f) }

// Read reads the markers of a session folder; nil without an error where none were recorded.
func Read(dir string) (*File, error) { return hpc.ReadBeside(dir, FileName, "markers", parse) }

// ReadFile reads markers that a program wrote itself; nil without an error if there are none.
func ReadFile(path string) (*File, error) {
	return hpc.ReadBeside(filepath.Dir(path), filepath.Base(path), "markers", parse)
}

func parse(b []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	if f.Version != FileVersion {
		return nil, fmt.Errorf("has version %d, this program knows %d: use the version of shadow that wrote it", f.Version, FileVersion)
	}
	if len(f.Markers) > MaxMarkers {
		return nil, fmt.Errorf("%w: %d markers, at most %d are written", ErrFile, len(f.Markers), MaxMarkers)
	}
	last := units.MonoNs(0)
	for i, m := range f.Markers {
		why := ""
		switch {
		case m.At < 0:
			why = "at_ns is below 0"
		case m.At < last:
			why = fmt.Sprintf("it is earlier than marker %d; they must be in the order of their times", i)
		case len(m.Line) > maxLabel:
			why = fmt.Sprintf("its line has %d bytes, at most %d are written", len(m.Line), maxLabel)
		case !utf8.ValidString(m.Line):
			why = "its line is not valid UTF-8"
		}
		if why != "" {
			return nil, fmt.Errorf("%w: marker %d: %s", ErrFile, i+1, why)
		}
		last = m.At
	}
	return &f, nil
}

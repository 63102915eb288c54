package marker

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// maxLine bounds what is matched of a line, so that output without newlines needs no memory.
const maxLine = 64 << 10

// Recorder looks for markers in output that it passes through.
type Recorder struct {
	begin, end *regexp.Regexp // begin may be nil

	mu   sync.Mutex
	file File
	outs []*stream
}

// New makes a recorder of lines that match end, and of lines that match begin if it is not nil.
func New(begin, end *regexp.Regexp) *Recorder {
	r := &Recorder{begin: begin, end: end, file: File{Version: FileVersion, End: end.String(), Markers: []Marker{}}}
	if begin != nil {
		r.file.Begin = begin.String()
	}
	return r
}

// Through is w with a look at what is written to it. name is stdout or stderr.
func (r *Recorder) Through(name string, w io.Writer) io.Writer {
	s := &stream{recorder: r, name: name, to: w}
	r.outs = append(r.outs, s)
	return s
}

// File is what was recorded, once the output has ended. A last line without a newline is a line.
func (r *Recorder) File() *File {
	for _, s := range r.outs {
		s.mu.Lock()
		if len(s.line) > 0 {
			s.endLine(s.at)
		}
		s.mu.Unlock()
	}
	return &r.file
}

// stream is one stream of output.
type stream struct {
	recorder *Recorder
	name     string
	to       io.Writer

	mu   sync.Mutex
	line []byte // what there is of the current line
	long bool   // it is longer than that
	at   units.MonoNs
}

// Write passes p on at once, and then looks at it: matching delays nobody's output.
func (s *stream) Write(p []byte) (int, error) {
	at := proc.Now()
	n, err := s.to.Write(p)
	s.look(p, at)
	return n, err
}

func (s *stream) look(p []byte, at units.MonoNs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = at
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.add(p)
			return
		}
		s.add(p[:i])
		s.endLine(at)
		p = p[i+1:]
	}
}

func (s *stream) add(p []byte) {
	if room := maxLine - len(s.line); len(p) > room {
		p, s.long = p[:room], true
	}
	s.line = append(s.line, p...)
}

func (s *stream) endLine(at units.MonoNs) {
	s.recorder.take(s.name, bytes.TrimSuffix(s.line, []byte("\r")), s.long, at)
	s.line, s.long = s.line[:0], false
}

// take records a line if it is a marker.
func (r *Recorder) take(stream string, line []byte, long bool, at units.MonoNs) {
	ends := r.end.Match(line)
	begins := !ends && r.begin != nil && r.begin.Match(line)
	if !ends && !begins && !long {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if long {
		r.file.LongLines++
	}
	switch {
	case !ends && !begins:
	case len(r.file.Markers) == MaxMarkers:
		r.file.Dropped++
	default:
		if n := len(r.file.Markers); n > 0 { // two streams: the one that read first may be the second here
			at = max(at, r.file.Markers[n-1].At)
		}
		r.file.Markers = append(r.file.Markers, Marker{At: at, Begin: begins, Stream: stream, Line: label(line)})
	}
}

// label is the begin of a line.
func label(line []byte) string {
	return strings.ToValidUTF8(string(line[:min(len(line), maxLabel)]), "?")
}

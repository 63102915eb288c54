package jfr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/units"
)

// ReadRecording reads a recording with the tool jfr of the JDK whose java is given.
func ReadRecording(ctx context.Context, java, recording string, types []string) (*File, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tool := filepath.Join(filepath.Dir(java), "jfr")
	cmd := exec.CommandContext(ctx, tool, "print", "--json", "--stack-depth", "1", "--events", strings.Join(types, ","), recording)
	var errs strings.Builder
	cmd.Stderr = &limited{&errs, 4 << 10}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the recording of JFR: %w", err)
	}
	f, err := parsePrinted(out, types)
	if f != nil && f.Dropped > 0 { // the rest is only counted
		_, _ = io.Copy(io.Discard, out)
	}
	err = errors.Join(err, cmd.Wait())
	if err != nil {
		return nil, fmt.Errorf("reading the recording of JFR: %w: %s", err, errs.String())
	}
	return f, nil
}

// limited keeps the first bytes.
type limited struct {
	to   *strings.Builder
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.left, len(b))
	l.to.Write(b[:n])
	l.left -= n
	return len(b), nil
}

// printed is an event as jfr prints it.
type printed struct {
	Type   string                     `json:"type"`
	Values map[string]json.RawMessage `json:"values"`
}

// parsePrinted reads what jfr prints: {"recording": {"events": [{"type": ..., "values": {...}}, ...]}}.
func parsePrinted(r io.Reader, types []string) (*File, error) {
	f := &File{Version: FileVersion, Types: types, Events: []Event{}}
	d := json.NewDecoder(r)
	for { // to the list
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("what jfr prints has no events: %w", err)
		}
		if t == json.Delim('[') {
			break
		}
	}
	for d.More() {
		var p printed
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("an event that jfr printed: %w", err)
		}
		e, ok := p.event()
		switch {
		case !ok:
		case len(f.Events) == Max:
			f.Dropped++
		default:
			f.Events = append(f.Events, e)
		}
	}
	if _, err := d.Token(); err != nil { // the end of the list
		return nil, fmt.Errorf("what jfr prints is cut off: %w", err)
	}
	return f, nil
}

func (p *printed) event() (e Event, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, p.text("startTime"))
	if err != nil || len(p.Type) > maxName || !typeName.MatchString(p.Type) {
		return e, false
	}
	e = Event{WallUnixNs: at.UnixNano(), Type: p.Type}
	if d, ok := duration(p.text("duration")); ok {
		e.Ns = d
	}
	if field := by[p.Type]; field != "" {
		e.By = p.text(field)
		e.By = e.By[:min(len(e.By), maxName)]
	}
	if field := bytes[p.Type]; field != "" {
		if n, err := strconv.ParseInt(string(p.Values[field]), 10, 64); err == nil && n > 0 {
			e.Bytes = n
		}
	}
	return e, true
}

func (p *printed) text(field string) string {
	var s string
	_ = json.Unmarshal(p.Values[field], &s) // of something else: ""
	return strings.ToValidUTF8(s, "?")
}

// duration parses ISO 8601 as Java writes it: PT1M2.5S.
func duration(s string) (units.Ns, bool) {
	rest, ok := strings.CutPrefix(s, "PT")
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(strings.ToLower(rest))
	return units.Ns(d), err == nil && d >= 0
}

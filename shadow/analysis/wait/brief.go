package wait

import (
	"fmt"
	"path/filepath"
	"strings"

	"stackagent/granularity"
	"stackagent/hpc/sched"
	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Brief is what threads waited for by the agent's records, without workers that had no work. Rows of what LeftOut names are
// in the list of all waits only.
type Brief struct {
	Waits    int64      `json:"waits"`
	WaitedNs units.Ns   `json:"waited_ns"`
	For      []BriefRow `json:"for"`      // the longest
	LeftOut  []string   `json:"left_out"` // what is not in it, of this session
}

// What a Brief leaves out, as LeftOut says it.
const (
	withoutWork  = "workers without work"
	ofCollector  = "pauses of the collector"
	onlyInRecord = "waits that only the scheduling record shows"
)

// leftOut says what is not in the Brief of a session. Its scheduling record is not read: that can take longer than all else.
func leftOut(s *session.Session) []string {
	out := []string{withoutWork}
	if len(s.Pauses) > 0 {
		out = append(out, ofCollector)
	}
	if _, err := sessionfs.Stat(filepath.Join(s.Dir, sched.Folder)); err == nil {
		out = append(out, onlyInRecord)
	}
	return out
}

// BriefRow is what was waited for.
type BriefRow struct {
	For      string   `json:"for"`
	Class    string   `json:"class"`
	Waits    int64    `json:"waits"`
	WaitedNs units.Ns `json:"waited_ns"`
	MaxNs    units.Ns `json:"max_ns"`
}

// briefRows is how many rows a Brief has.
const briefRows = 5

// ReadBrief sums up the agent's waits of a session; nil: it has none.
func ReadBrief(s *session.Session) (*Brief, error) {
	if s.Manifest.Rows[store.Waits.String()]+s.Manifest.Rows[store.WaitSums.String()] == 0 {
		return nil, nil
	}
	t, err := readTables(s, false, false, granularity.Grid{})
	if err != nil {
		return nil, err
	}
	a := &Analysis{tables: t}
	b := &Brief{LeftOut: leftOut(s)}
	for _, r := range a.Rows(false) {
		if r.For == ForQueue {
			continue
		}
		b.Waits += r.Waits
		b.WaitedNs += r.WaitedNs
		if len(b.For) < briefRows {
			b.For = append(b.For, BriefRow{r.For, r.Class, r.Waits, r.WaitedNs, r.MaxNs})
		}
	}
	return b, nil
}

// considerable is the share of a session's time that threads wait at least for Text to say so.
const considerable = 0.1

// Text is a line about the waits, if they are a considerable share of a session so long; else "".
func (b *Brief) Text(session units.Ns) string {
	if b == nil || float64(b.WaitedNs) < considerable*float64(session) || b.WaitedNs == 0 {
		return ""
	}
	var parts []string
	for _, r := range b.For[:min(len(b.For), 3)] {
		parts = append(parts, fmt.Sprintf("%s %s", r.Class, units.FormatNs(r.WaitedNs)))
	}
	line := fmt.Sprintf("threads waited for %s in all: %s", units.FormatNs(b.WaitedNs), strings.Join(parts, ", "))
	if len(b.LeftOut) > 0 {
		line += fmt.Sprintf("; not in it: %s (see shadow waits)", strings.Join(b.LeftOut, ", "))
	}
	return line
}

package view

import (
	"fmt"

	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/threads"
	"stackagent/shadow/session"
	"stackagent/shadow/session/virtual"
)

// virtualText is the line of the statistics.
func virtualText(v *virtual.Threads) string {
	recorded := &v.Recorded
	line := "threads mounted " + text.PluralExact(v.Mounts, "time", "times")
	if recorded.Threads > 0 {
		line = fmt.Sprintf("%s mounted %s (", text.PluralExact(recorded.Threads, "thread", "threads"), text.PluralExact(v.Mounts, "time", "times"))
		if recorded.MedianMounts != nil {
			line += fmt.Sprintf("median %s, ", units.FormatExact(int64(*recorded.MedianMounts)))
		}
		line += fmt.Sprintf("at most %s a thread), %s of them on another carrier than before", units.FormatExact(int64(recorded.MostMounts)), units.FormatExact(int64(recorded.Changes)))
		if recorded.ReadyNs != nil {
			line += fmt.Sprintf("; waited for a carrier for %s, at most %s", units.FormatNs(*recorded.ReadyNs), units.FormatNs(recorded.MostReadyNs))
		}
	}
	line += fmt.Sprintf("; parked while pinned to their carrier %s, %s in all", text.PluralExact(v.Pins, "time", "times"), units.FormatNs(v.PinnedNs))
	if len(v.List) > 0 && v.List[0].Pins > 0 {
		line += fmt.Sprintf(" (most: %s, %s)", v.List[0].Class, units.FormatNs(v.List[0].PinnedNs))
	}
	return line
}

// ListVirtual prints a row for each class of what virtual threads run.
func ListVirtual(l *Printer, s *session.Session) error {
	v, err := summary.Virtual(s, summary.Filter{})
	if err != nil {
		return err
	}
	if v == nil {
		v = &virtual.Threads{List: []virtual.Class{}}
		l.Note("no virtual thread ran, or the agent could not observe it (see shadow stats)")
	}
	if l.Format == "json" {
		if n := l.Limit(); n > 0 && n < len(v.List) {
			v.List = v.List[:n]
		}
		return l.JSON(v)
	}
	if err := Rows(l, listing.Refs(v.List), threads.VirtualColumns); err != nil || l.Format != "table" {
		return err
	}
	if v.Unrecorded != 0 {
		l.Note("%s of %s mounts are of threads that executed no task, or whose record was lost", units.FormatExact(v.Unrecorded), units.FormatExact(int64(v.Mounts)))
	}
	return nil
}

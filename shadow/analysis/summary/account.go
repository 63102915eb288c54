package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// AccountText says what is missing from the session, in every case.
func (s *Summary) AccountText() string {
	line := ""
	switch l := s.Lost; {
	case l.Events+l.Batches > 0:
		line = "Lost: " + s.LostText() + "; counts and sums are too low by as much."
	case l.Switches > 0:
		line = "Lost: " + s.LostText() + "; what the threads did meanwhile is unknown."
	}
	switch {
	case !s.EndSeen():
		return strings.TrimSpace(line + " The session did not exit cleanly (" + s.EndedText() + "): " + MissingEnd + ".")
	case line == "":
		line = "Nothing was lost."
		if why := s.NotAvailable[store.NoLostCount]; why != "" {
			return "Whether anything was lost is not known: " + why + "."
		}
	}
	switch b := s.Balance; {
	case b == nil:
		return line
	case b.State == store.BalanceExact:
		return line + fmt.Sprintf(" The account is exact for each of %s.", text.PluralExact(b.Threads, "thread", "threads"))
	default:
		return line + " The account is " + BalanceText(b) + "."
	}
}

// MissingEnd is true of every session whose last batch did not come: nobody
// can count what was not sent.
const MissingEnd = "what happened after the last batch is missing and not counted as lost"

// PartText is what the figures of a session are worth of which executions are missing.
const PartText = "Counts, sums and maxima are lower bounds; means, minima, quantiles and shares are of what was recorded"

// EndedText is how a session ended, in words.
func (s *Summary) EndedText() string {
	switch {
	case s.Ended == store.EndedRunning:
		return "still running, or the shadow was killed"
	case s.EndSeen() && s.Incomplete.Damaged():
		return "cleanly, but not all that was recorded is left"
	case s.EndSeen() && s.Incomplete != nil && s.ImportedFrom != "":
		return "not known, as the recording has only a part of the session"
	case s.EndSeen() && s.Incomplete != nil:
		return "cleanly, but not all that was recorded arrived"
	case s.EndSeen():
		return "cleanly" // of the program, or of a recording that was stopped
	}
	return s.Ended
}

// LostText is the events lost, with the reasons.
func (s *Summary) LostText() string {
	l := s.Lost
	line := "nothing"
	if s.NotAvailable[store.NoLostCount] != "" {
		line = "not known"
	}
	if l.Events+l.Switches+l.Batches > 0 {
		line = fmt.Sprintf("%s, %s", text.PluralExact(l.Events, "event", "events"), text.PluralExact(int64(l.Batches), "batch", "batches"))
	}
	if l.Switches > 0 {
		line += ", " + text.PluralExact(l.Switches, "context switch", "context switches")
	}
	for _, reason := range slices.Sorted(maps.Keys(l.ByReason)) {
		line += fmt.Sprintf("; %s: %s", reason, units.FormatExact(int64(l.ByReason[reason])))
	}
	return line
}

// BalanceText is the account of a session in one line.
func BalanceText(b *store.Balance) string {
	switch b.State {
	case store.BalanceExact:
		return fmt.Sprintf("exact for each of %s: %s", text.PluralExact(b.Threads, "thread", "threads"), equation(b))
	case store.BalanceUnknown:
		line := "not known by thread: " + b.Why
		if b.AtLeastLost > 0 {
			line += fmt.Sprintf("; at least %s lost", text.PluralExact(b.AtLeastLost, "event is", "events are"))
		}
		return line
	}
	line := fmt.Sprintf("not exact, by %s in %s: %s", text.PluralExact(b.Unexplained, "event", "events"),
		text.PluralExact(b.Differing, "thread", "threads"), equation(b))
	if b.Why != "" {
		line += "; " + b.Why
	}
	return line
}

// equation is produced = recorded + summarised + lost over all threads. Events
// in batches that never arrived, and events lost without a known thread, count as lost.
func equation(b *store.Balance) string {
	s := b.Sum
	lost := int64(s.Lost) + max(0, s.Missing-int64(b.Unexplained))
	line := fmt.Sprintf("%s produced = %s recorded + %s summarised + %s lost", count(s.Produced), count(s.Recorded), count(s.Summarised), units.FormatExact(lost))
	if b.Unexplained > 0 {
		line += " + what differs"
	}
	return line
}

func count(c store.Counts) string { return units.FormatExact(int64(c.Sum())) }

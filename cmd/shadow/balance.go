package main

import (
	"fmt"
	"io"
	"strconv"

	"stackagent/cmd/shadow/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/store"
	"stackagent/shadow/view"
	"stackagent/shadow/view/table"
)

// balanceText is the account of a session in one line.
func balanceText(b *store.Balance) string {
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

// printBalance is the table of the threads that differ, nothing when none does.
func printBalance(w io.Writer, b *store.Balance, o table.Options) error {
	if b == nil || len(b.Differ) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return listing.Table(w, o, b.Differ, balanceColumns)
}

var balanceColumns = []view.Column[store.ThreadBalance]{
	{Title: "thread", Kind: view.Word, Show: threadOfBalance},
	{Title: "produced", Kind: view.Int, Show: func(l store.ThreadBalance) string { return count(l.Produced) }},
	{Title: "recorded", Kind: view.Int, Show: func(l store.ThreadBalance) string { return count(l.Recorded) }},
	{Title: "summarised", Kind: view.Int, Show: func(l store.ThreadBalance) string { return count(l.Summarised) }},
	{Title: "lost", Kind: view.Int, Unit: view.Count, Value: func(l store.ThreadBalance) view.Value { return view.IntOf(int64(l.Lost)) }},
	{Title: "missing", Kind: view.Int, Unit: view.Count, Value: func(l store.ThreadBalance) view.Value { return view.IntOf(l.Missing) }},
}

func threadOfBalance(l store.ThreadBalance) string {
	switch {
	case l.Uncounted:
		return "threads without a count of their own"
	case l.Thread == 0:
		return "virtual threads"
	}
	return "thread " + strconv.FormatUint(uint64(l.Thread), 10)
}

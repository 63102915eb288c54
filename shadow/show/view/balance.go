package view

import (
	"fmt"
	"io"
	"strconv"

	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// printBalance is the table of the threads that differ, nothing when none does.
func printBalance(w io.Writer, b *store.Balance, o table.Options) error {
	if b == nil || len(b.Differ) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return Table(w, o, b.Differ, balanceColumns)
}

var balanceColumns = []listing.Column[store.ThreadBalance]{
	{Title: "thread", Kind: listing.Word, Show: threadOfBalance},
	{Title: "produced", Kind: listing.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Produced.Sum())) }},
	{Title: "recorded", Kind: listing.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Recorded.Sum())) }},
	{Title: "summarised", Kind: listing.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Summarised.Sum())) }},
	{Title: "lost", Kind: listing.Int, Unit: listing.Count, Value: func(l store.ThreadBalance) listing.Value { return listing.IntOf(int64(l.Lost)) }},
	{Title: "missing", Kind: listing.Int, Unit: listing.Count, Value: func(l store.ThreadBalance) listing.Value { return listing.IntOf(l.Missing) }},
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

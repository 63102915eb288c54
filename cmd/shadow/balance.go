package main

import (
	"fmt"
	"io"
	"strconv"

	"stackagent/cmd/shadow/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/store"
	"stackagent/shadow/view"
	"stackagent/shadow/view/table"
)

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
	{Title: "produced", Kind: view.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Produced.Sum())) }},
	{Title: "recorded", Kind: view.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Recorded.Sum())) }},
	{Title: "summarised", Kind: view.Int, Show: func(l store.ThreadBalance) string { return units.FormatExact(int64(l.Summarised.Sum())) }},
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

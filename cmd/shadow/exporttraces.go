package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/granularity/activity"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/exchange/export/duckdb"
	"stackagent/shadow/exchange/export/jfr"
	"stackagent/shadow/exchange/export/perfetto"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// largeExport is from how many bytes on the size is said before an export is written.
const largeExport = 1 << 30

// source is what of the session is exported, with its progress; call done at the end.
func (x *exporting) source(bytesPerExecution uint64) (src *export.Source, done func(), err error) {
	m := &x.session.Manifest
	span := activity.Span{From: m.StartNs, To: m.EndNs}
	if w, err := x.window.Span(x.env, x.session); err != nil {
		return nil, nil, err
	} else if w != nil {
		span = *w
	}
	choice.NoteNone(x.env, x.session, x.filter, len(slices.DeleteFunc(slices.Clone(x.session.Classes), func(c session.Class) bool { return !x.filter.Match(c.Name, c.Kinds) })))
	show, done := x.progress()
	n := m.Stored.Executions - min(m.Stored.Executions, m.Summarised.Executions)
	if x.max > 0 {
		n = min(n, uint64(x.max))
	}
	if size := n * bytesPerExecution; x.window.Whole() && size > largeExport {
		x.env.Note("%s take about %d GB in this format, more than most viewers open; --from and --to write a window, --max N the first N",
			text.PluralExact(n, "execution", "executions"), (size+1<<29)>>30)
	}
	return &export.Source{Session: x.session, Span: span, Filter: x.filter, Max: x.max, Progress: show}, done, nil
}

func exportPerfetto(x *exporting) error {
	src, done, err := x.source(perfetto.BytesPerExecution)
	if err != nil {
		return err
	}
	var notes []string
	err = x.file(func(w io.Writer) (err error) {
		if !strings.HasSuffix(x.output, ".gz") {
			notes, err = perfetto.Write(w, src)
			return err
		}
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // it is a level
		if notes, err = perfetto.Write(z, src); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("compressing the trace: %w", err)
		}
		return nil
	})
	done()
	x.say(notes)
	return err
}

func exportJFR(x *exporting) error {
	src, done, err := x.source(jfr.BytesPerExecution)
	if err != nil {
		return err
	}
	var notes []string
	err = x.file(func(w io.Writer) (err error) {
		notes, err = jfr.Write(w, src)
		return err
	})
	done()
	x.say(notes)
	return err
}

// exportDuckDB names the session's folder in full, so that the views work wherever DuckDB runs on this machine.
func exportDuckDB(x *exporting) error {
	dir, err := filepath.Abs(x.session.Dir)
	if err != nil {
		return fmt.Errorf("finding the folder of the session: %w", err)
	}
	return x.file(func(w io.Writer) error { return duckdb.Write(w, x.session, dir) })
}

// say prints what an export does not hold.
func (x *exporting) say(notes []string) {
	for _, n := range notes {
		if strings.HasPrefix(n, store.Incomplete) {
			continue // it was said when the session was opened
		}
		x.env.Note("%s", table.Clean(n))
	}
}

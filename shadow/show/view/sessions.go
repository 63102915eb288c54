package view

import (
	"cmp"
	"slices"
	"time"

	"stackagent/internal/listing"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store"
)

// SessionTime is the layout that shows when a session began.
const SessionTime = "2006-01-02 15:04"

// Sessions are the columns of shadow sessions ls.
// On the terminal, those of labels are there if a session has a service.
func Sessions(now time.Time, found []catalog.Found) []listing.Column[catalog.Found] {
	type row = catalog.Found
	title := map[string]string{}
	if slices.ContainsFunc(found, func(f row) bool { return f.Labels.Service != "" }) {
		title = map[string]string{"service": "service", "version": "version"}
	}
	name := func(name, doc string, of func(row) string) listing.Column[row] {
		return listing.Column[row]{Name: name, Doc: doc, Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(of(r)) }}
	}
	number := func(name, doc string, of func(row) uint64) listing.Column[row] {
		return listing.Column[row]{Name: name, Doc: doc, Kind: listing.Uint, Unit: listing.Count, Value: func(r row) listing.Value { return listing.UintOf(of(r)) }}
	}
	titled := func(c listing.Column[row], title string) listing.Column[row] {
		c.Title = title
		return c
	}
	known := func(c listing.Column[row], known func(row) bool) listing.Column[row] {
		of := c.Value
		c.Optional, c.Value = true, func(r row) listing.Value {
			if !known(r) {
				return listing.Null
			}
			return of(r)
		}
		return c
	}
	return []listing.Column[row]{
		{Name: "folder", Title: "folder", Doc: "its folder", Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(r.Dir) }},
		name("session", "its name, as its JVM gave it", func(r row) string { return r.Session }),
		name("name", "the user's name for it", func(r row) string { return r.Name }),
		name("note", "the user's note", func(r row) string { return r.Note }),
		name("program", "main class", func(r row) string { return r.Program }),
		{Title: "program", Doc: "the user's name for it, else the main class", Kind: listing.Name, Show: func(r row) string { return cmp.Or(r.Name, r.Program) }},
		{Name: "service", Title: title["service"], Doc: "service that the JVM belongs to", Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(r.Labels.Service) }},
		{Name: "version", Title: title["version"], Doc: "version of the service", Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(r.Labels.Version) }},
		name("env", "environment of the service", func(r row) string { return r.Labels.Env }),
		name("instance", "instance of the service", func(r row) string { return r.Labels.Instance }),
		name("labels", "free labels, as a JSON object", func(r row) string { return r.Labels.FreeJSON() }),
		name("host", "machine of the JVM", func(r row) string { return r.Host }),
		number("pid", "process id of the JVM", func(r row) uint64 { return uint64(max(r.PID, 0)) }),
		name("jvm", "version of the JVM", func(r row) string { return r.JVM }),
		name("gc", "its collector", func(r row) string { return r.GC }),
		{Name: "started", Title: "started", Doc: "when it began, RFC 3339; on the terminal in local time", Kind: listing.Word,
			Value: func(r row) listing.Value { return listing.WordOf(r.Started.UTC().Format(time.RFC3339)) },
			Show:  func(r row) string { return r.Started.Local().Format(SessionTime) }},
		{Name: "duration_ns", Title: "length", Doc: "its length", Kind: listing.Int, Unit: listing.Ns, Value: func(r row) listing.Value { return listing.IntOf(r.Duration) }},
		known(titled(number("executions", "executions stored", func(r row) uint64 { return r.Executions }), "executions"), func(r row) bool { return !r.NoExecutions }),
		known(number("creations", "creations stored", func(r row) uint64 { return r.Creations }), func(r row) bool { return !r.NoCreations }),
		known(number("lost", "events lost", func(r row) uint64 { return r.LostEvents }), func(r row) bool { return !r.NoLost || r.LostEvents > 0 }),
		number("lost_batches", "batches that never arrived", func(r row) uint64 { return r.LostBatches }),
		{Name: "bytes", Doc: "size of its files", Kind: listing.Int, Value: func(r row) listing.Value { return listing.IntOf(r.Bytes) }},
		{Name: "state", Title: "state", Doc: "running, damaged, cut off (its shadow was killed), or how it ended", Kind: listing.Word,
			Value: func(r row) listing.Value { return listing.WordOf(stateOf(&r, now)) }},
		name("incomplete", "what of the program it lacks; empty: nothing is known to be missing, but for lost events", func(r row) string { return r.Incomplete }),
		name("damaged", "why it cannot be read", func(r row) string { return r.Damaged }),
	}
}

func stateOf(f *catalog.Found, now time.Time) string {
	switch {
	case f.Damaged != "":
		return "damaged"
	case f.Open(now):
		return "running"
	case f.Ended == store.EndedRunning:
		return "cut off"
	}
	return f.Ended
}

package view

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/listing"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

// SingleWaits are the columns of single waits of s.
func SingleWaits(s *session.Session) []listing.Column[*wait.Single] {
	columns := []listing.Column[*wait.Single]{
		{Name: "start_ns", Title: "start", Kind: listing.Int, Unit: listing.Ns, Doc: "when it began", Value: func(w *wait.Single) listing.Value { return listing.IntOf(w.StartNs) },
			Show: func(w *wait.Single) string { return SinceStart(s, w.StartNs) }},
		{Name: "waited_ns", Title: "waited", Kind: listing.Int, Unit: listing.Ns, Doc: "time waited", Value: func(w *wait.Single) listing.Value { return listing.IntOf(w.WaitedNs) }},
		{Name: "carrier_ns", Kind: listing.Int, Unit: listing.Ns, Doc: "of a virtual thread: time that it then waited for a carrier", Value: func(w *wait.Single) listing.Value { return listing.IntOf(w.CarrierNs) }},
		{Name: "for", Title: "for", Kind: listing.Word, Doc: "monitor, synchronizer, io, sleep, queue or other", Value: func(w *wait.Single) listing.Value { return listing.WordOf(w.For) }},
		{Name: "class", Title: "class", Kind: listing.Name, Doc: "what it was for, as a reader knows it; on the terminal with the object", Value: func(w *wait.Single) listing.Value { return listing.NameOf(w.Class) }, Show: waitObject},
		{Name: "object", Kind: listing.Uint, Optional: true, Doc: "System.identityHashCode of the object; empty: none, or not known", Value: func(w *wait.Single) listing.Value { return listing.OnlyIf(w.Object != 0, listing.UintOf(w.Object)) }},
		{Name: "lock_object", Kind: listing.Uint, Optional: true, Doc: "of a condition: that of its lock's synchronizer", Value: func(w *wait.Single) listing.Value { return listing.OnlyIf(w.LockHash != 0, listing.UintOf(w.LockHash)) }},
		{Name: "site", Title: "site", Last: 2, Kind: listing.Name, Doc: "the program's nearest frame; empty: not known", Value: func(w *wait.Single) listing.Value { return listing.NameOf(w.Site) }},
	}
	n := newNames()
	by := doing(s, n, "", "that waited", func(w *wait.Single) *wait.Doing { return &w.By })
	by[0].Title, by[3].Title, by[3].Show = "thread", "in", func(w *wait.Single) string { return taskText(&w.By) }
	waker := doing(s, n, "ended_by_", "that ended the wait", func(w *wait.Single) *wait.Doing { return &w.Waker })
	who := waker[3].Show
	waker[3].Title, waker[3].Show = "ended by", func(w *wait.Single) string {
		switch {
		case w.Open:
			return "(not ended)"
		case w.TimedOut:
			return "(its time limit)"
		}
		return who(w)
	}
	holder := doing(s, n, "held_by_", "that owned the lock when the wait began", func(w *wait.Single) *wait.Doing { return &w.Holder })
	holder[3].Title = "held by"
	columns = slices.Concat(columns, by, waker, holder)
	flag := func(name, doc string, of func(*wait.Single) bool) listing.Column[*wait.Single] {
		return listing.Column[*wait.Single]{Name: name, Kind: listing.Bool, Doc: doc, Value: func(w *wait.Single) listing.Value { return listing.BoolOf(of(w)) }}
	}
	return append(columns,
		listing.Column[*wait.Single]{Name: "kind", Kind: listing.Word, Doc: "how the thread waited: monitor, notify, park, sleep or io", Value: func(w *wait.Single) listing.Value { return listing.WordOf(w.Kind) }},
		listing.Column[*wait.Single]{Name: "blocker", Kind: listing.Name, Doc: "Java name of the class of the object; empty: none, or not known", Value: func(w *wait.Single) listing.Value { return listing.NameOf(w.Blocker) }},
		listing.Column[*wait.Single]{Name: "lock", Kind: listing.Name, Doc: "of a condition: the class of its lock's synchronizer", Value: func(w *wait.Single) listing.Value { return listing.NameOf(w.Lock) }},
		flag("timed", "it had a time limit", func(w *wait.Single) bool { return w.Timed }),
		flag("timed_out", "the time limit ended it, or an interrupt; not said of sleep", func(w *wait.Single) bool { return w.TimedOut }),
		flag("pinned", "by a virtual thread that kept its carrier", func(w *wait.Single) bool { return w.Pinned }),
		flag("open", "not ended when the session did", func(w *wait.Single) bool { return w.Open }))
}

// doing are the columns of a thread and its execution; the last one shows both on the terminal.
func doing(s *session.Session, n *names, prefix, who string, of func(*wait.Single) *wait.Doing) []listing.Column[*wait.Single] {
	thread := func(w *wait.Single) listing.Value {
		if of(w).Thread == 0 {
			return listing.Null
		}
		return n.thread(s.ThreadByID(of(w).Thread))
	}
	return []listing.Column[*wait.Single]{
		{Name: prefix + "thread", Last: 1, Kind: listing.Name, Optional: true, Doc: "thread " + who + ", as name#id; empty: none, or not known", Value: thread},
		{Name: prefix + "task_id", Kind: listing.Uint, Optional: true, Doc: "task in whose execution that was, as in tasks; empty: in none, not recorded one by one, or not known",
			Value: func(w *wait.Single) listing.Value {
				return listing.OnlyIf(of(w).TaskID != 0, listing.UintOf(of(w).TaskID))
			}},
		{Name: prefix + "execution", Kind: listing.Int, Optional: true, Doc: "which execution of that task, as in tasks", Value: func(w *wait.Single) listing.Value { return listing.UnlessZero(int64(of(w).Execution)) }},
		{Name: prefix + "task", Last: 1, Kind: listing.Name, Doc: "name of its unit of work; empty: none, or not known", Value: func(w *wait.Single) listing.Value { return listing.NameOf(of(w).Name) },
			Show: func(w *wait.Single) string {
				task, on := taskText(of(w)), thread(w).Text()
				if task == "" || on == "" {
					return task + on
				}
				return task + ", on " + on
			}},
	}
}

// taskText is a unit with the task: the one that it is named after, or one inside.
func taskText(d *wait.Doing) string {
	if d.TaskID == 0 {
		return d.Name
	}
	text := fmt.Sprintf("%s, task %d", cmp.Or(d.Own, d.Name), d.TaskID)
	if d.Execution > 1 {
		text += fmt.Sprintf(" run %d", d.Execution)
	}
	if d.Own != "" {
		text += " in " + d.Name
	}
	return text
}

// waitObject is a class with the identity of the object, as Object.toString prints it.
func waitObject(w *wait.Single) string {
	if w.Object == 0 {
		return w.Class
	}
	return fmt.Sprintf("%s@%x", w.Class, w.Object)
}

package view

import (
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// maxNames bounds the names that are kept.
const maxNames = 10_000

// names keeps the names of threads and call sites that rows repeat.
type names struct {
	threads map[*session.Thread]string
	sites   map[*session.Site]string
}

func newNames() *names {
	return &names{map[*session.Thread]string{}, map[*session.Site]string{}}
}

// thread is the name of a thread, Null for nil.
func (n *names) thread(t *session.Thread) listing.Value {
	if t == nil {
		return listing.Null
	}
	name, ok := n.threads[t]
	if !ok {
		if len(n.threads) > maxNames {
			clear(n.threads) // a program can have a million virtual threads
		}
		name = t.Label()
		n.threads[t] = name
	}
	return listing.NameOf(name)
}

// site is the name of a call site, Null for nil.
func (n *names) site(s *session.Site) listing.Value {
	if s == nil {
		return listing.Null
	}
	name, ok := n.sites[s]
	if !ok {
		name = s.Label()
		n.sites[s] = name
	}
	return listing.NameOf(name)
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// Yes is "yes" on the terminal if b holds, else nothing.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// SinceStart is at on the terminal, as the time since the session's start.
func SinceStart(s *session.Session, at units.MonoNs) string {
	return "+" + units.FormatNs(units.Ns(at-s.Manifest.StartNs))
}

// NotAvailable is the cell of a table that has no value.
const NotAvailable = "n/a"

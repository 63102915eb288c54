package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

func (e *ContendedLock) sentence(f *Finding) string {
	l := &e.Lock
	return fmt.Sprintf("Units of %s on %s wait for %s for %s of their response time: %s, %s in total, the longest %s.%s",
		readable(l.Unit), e.name(), l.named(), units.FormatPercent(float64(l.Waited)/float64(max(1, e.Response))),
		text.Plural(l.Waits, "wait", "waits"), units.FormatNs(l.Waited), units.FormatNs(l.Most), l.held())
}

func (e *ContendedLock) title(*Finding) string { return "Tasks on " + e.name() + " wait for a lock" }

func (e *ContendedLock) remedy() string { return e.Lock.try() + "." }

// named is a lock in a sentence, with the site if it is known.
func (l *Lock) named() string {
	s := "a " + l.Name
	switch l.Kind {
	case Monitor:
		s = "the monitor of a " + l.Name
		if l.Name == "java.lang.Class" {
			s = "the monitor of a class (static synchronized)"
		}
	case Permits:
		s = "a permit of a " + l.Name
	case Handed:
		s = "what a " + l.Name + " hands over"
	}
	if l.Locks > 1 {
		s += fmt.Sprintf(" (%s)", text.Plural(l.Locks, "object", "objects"))
	}
	if l.Site != "" {
		s += " at " + l.Site
	}
	return s
}

// holder is who had the lock for most of what was waited; nil: not known.
func (l *Lock) holder() *Holder {
	if h := &l.Holder; h.Unit != "" && h.Known > 0 && 2*h.Known >= l.Waited {
		return h
	}
	return nil
}

// waitsItself reports whether those that have the lock mostly wait themselves.
func (h *Holder) waitsItself() bool { return h != nil && h.Waited > 0 && 2*h.Waited >= h.Known }

// does is what a thread does that waits.
var does = map[string]string{"sleep": "sleep", "io": "wait for I/O", "lock": "wait for another lock", "other": "wait"}

// held says who had the lock.
func (l *Lock) held() string {
	h := l.holder()
	if h == nil {
		return ""
	}
	s := fmt.Sprintf(" Units of %s hold it for %s of that time", readable(h.Unit), units.FormatPercent(float64(h.Known)/float64(max(1, l.Waited))))
	if 10*h.Waited >= h.Known {
		s += fmt.Sprintf(", and %s for %s of it", does[h.For], units.FormatPercent(float64(h.Waited)/float64(h.Known)))
		if h.Site != "" {
			s += fmt.Sprintf(" (at %s)", h.Site)
		}
	}
	return s + "."
}

// try is what helps against waiting for a lock.
func (l *Lock) try() string {
	shorter := "Hold it for less of the work"
	if h := l.holder(); h.waitsItself() {
		shorter = map[string]string{"sleep": "Do not sleep", "io": "Do not wait for I/O", "lock": "Do not wait for another lock"}[l.Holder.For]
		if shorter == "" {
			shorter = "Do not wait"
		}
		shorter += " while holding it"
	}
	switch l.Kind {
	case Permits:
		return shorter + ", or give it more permits if what it protects allows that"
	case ReadWrite:
		return shorter + ", above all the write lock"
	}
	return shorter + ", or divide what it guards"
}

// orAny names a lock in a sentence, or says what is known without it.
func (l *Lock) orAny(unknown string) string {
	if l == nil {
		return unknown
	}
	return "for " + l.named()
}

// tryOr is what helps against waiting for a lock, or what is known without it.
func (l *Lock) tryOr(unknown string) string {
	if l == nil {
		return unknown
	}
	return l.try()
}

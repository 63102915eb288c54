package advice

import (
	"fmt"
	"slices"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// OnePart is that a parallel stream, or another operation that the JDK divides, ran in one part on the thread that began it.
type OnePart struct {
	Parts    int64    `json:"parts"`        // units of the class
	Largest  units.Ns `json:"largest_ns"`   // that its largest one computes
	OfAll    float64  `json:"largest_part"` // of what all compute, in the largest
	Share    float64  `json:"share"`        // of the session, in the largest
	CPUsUsed float64  `json:"cpus_used"`    // by all units, on average over the session
	CPUs     int      `json:"cpus"`
}

// mostUsed is the share of the CPUs in use up to which one may have been idle.
const mostUsed = 0.8

// oneParts looks at operations that nobody waits for but the thread that runs them: of what units wait for, the account of time speaks.
func oneParts(s *search) (list []Finding) {
	if s.Units == nil || s.Units.CPUs < 2 || s.Duration <= 0 || s.account != nil && slices.ContainsFunc(s.account.Obstacles, func(o account.Obstacle) bool { return o.Kind == account.DoesNotSplit }) {
		return nil
	}
	duration, all := float64(s.time(s.Duration)), units.Ns(0)
	for i := range s.Units.Classes {
		all += s.Units.Classes[i].Self.Sum()
	}
	used := float64(all) / duration
	for i := range s.Units.Classes {
		c := &s.Units.Classes[i]
		if !c.Bulk || c.Units == 0 || c.Summarised > 0 || used > mostUsed*float64(s.Units.CPUs) {
			continue
		}
		e := &OnePart{Parts: c.Units, Largest: c.Self.Max(), CPUsUsed: used, CPUs: s.Units.CPUs}
		e.OfAll, e.Share = float64(e.Largest)/float64(max(1, c.Self.Sum())), float64(e.Largest)/float64(s.Duration)
		if e.OfAll >= s.t.CoarseShare && float64(e.Largest) >= s.t.CoarseSession*duration && len(list) < maxNamed {
			list = append(list, Finding{Class: c.Name, Evidence: e})
		}
	}
	return list
}

func (e *OnePart) title(f *Finding) string {
	if e.Parts == 1 {
		return fmt.Sprintf("%s is not split: its parallel stream, or the like, ran as 1 task on one thread", f.Class)
	}
	return fmt.Sprintf("%s is not split: of its parallel stream, or the like, 1 task of %s has %s of the work", f.Class, units.FormatExact(e.Parts), units.FormatPercent(e.OfAll))
}

func (e *OnePart) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *OnePart) happened() string {
	return fmt.Sprintf("It computes for %s, %s of the time, while %.1f of %s are used.", units.FormatNs(e.Largest), units.FormatPercent(e.Share), e.CPUsUsed, text.PluralExact(int64(e.CPUs), "CPU", "CPUs"))
}

func (e *OnePart) remedy() string {
	return "Stream in parallel over what has many elements: flatMap runs each inner stream sequentially, also one that is parallel, and a single element cannot be split. Collect a source of unknown size, such as an iterator, into a list or an array before: it is split badly."
}

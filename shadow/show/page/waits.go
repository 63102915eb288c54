package page

import (
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

const (
	mostWaitRows = 500        // things that were waited for
	mostWaiting  = 50_000_000 // recorded executions that are looked at for their waits: it takes minutes
)

// waits fills in what tasks and threads waited for.
func (b *builder) waits() error {
	m := &b.s.Manifest
	switch n := unit.Recorded(m); {
	case b.sum.Filter != nil:
		b.missing("waits", "only some classes are shown")
		return nil
	case n > mostWaiting:
		b.missing("waits", "the session has more than "+units.FormatCount(mostWaiting)+" recorded executions")
		return nil
	case m.Rows[store.Waits.String()]+m.Rows[store.WaitSums.String()] == 0 && b.data.Missing["lanes"] != "":
		why := m.NotAvailable[wait.NoWaits]
		if why == "" {
			why = "the session has no waits: it was recorded with wait=off, or by an older agent"
		}
		b.missing("waits", why)
		return nil
	}
	b.progress("reading what threads waited for")
	a, err := wait.AnalyseOver(b.s, b.axis.grid(b.data.Slots))
	if err != nil {
		return err
	}
	for what, why := range a.NotAvailable {
		b.missing("waits: "+what, why)
	}
	for _, d := range a.Damage {
		b.data.Session.Losses = append(b.data.Session.Losses, sentence(d.Error()))
	}
	to := &Waits{BySlot: true}
	for _, p := range wait.Parts {
		to.Parts = append(to.Parts, Label{p.Name, p.Title, p.Doc})
	}
	for _, u := range a.ByUnit() {
		class, ok := b.classes.index[u.Name]
		if !ok {
			class = none
		}
		for slot, times := range a.BySlot(u.Name) {
			if times == (waiting.Times{}) {
				continue
			}
			to.Class, to.Slot = append(to.Class, narrow(class)), append(to.Slot, uint16(slot))
			for i := range wait.Parts {
				to.Parted = append(to.Parted, float64(wait.Parts[i].Ns(&wait.Breakdown{Times: times})))
			}
		}
	}
	rows := a.Rows(true)
	for _, r := range rows[:min(len(rows), mostWaitRows)] {
		to.Rows = append(to.Rows, WaitRow{For: r.For, Class: printable(r.Class), Site: printable(r.Site), EndedBy: firstShare(r.Wakers), HeldBy: firstShare(r.Holders), Waits: float64(r.Waits), WaitedNs: float64(r.WaitedNs), MaxNs: float64(r.MaxNs)})
	}
	to.More = len(rows) - len(to.Rows)
	b.data.Waits = to
	return nil
}

// mostStacks is how many stacks are kept.
const mostStacks = 5000

// contexts fills in the stacks of the session, those with the most CPU time first.
func (b *builder) contexts() error {
	if !b.s.HasContexts() {
		b.missing("contexts", "the session has none: record with shadow run --contexts")
		return nil
	}
	list, err := summary.Contexts(b.s, b.sum.FilterOf(), "work")
	if err != nil {
		return err
	}
	to := &Contexts{Every: float64(b.s.Every()), Frames: []string{}, Stacks: []ContextStack{}}
	frames := map[string]int{}
	for i := range list[:min(len(list), mostStacks)] {
		c := &list[i]
		s := ContextStack{Kind: c.Kind, Class: -1, Frames: []int{}, Count: float64(c.Count), CPUNs: float64(max(c.SelfCPU, -1)), WallNs: float64(max(c.SelfWall, -1))}
		if n, ok := b.classes.index[c.ClassName]; ok {
			s.Class = int(n)
		}
		if c.Cut {
			s.Frames = append(s.Frames, frameOf(frames, to, "(more frames)"))
		}
		for _, f := range slices.Backward(c.Frames) {
			s.Frames = append(s.Frames, frameOf(frames, to, frameLabel(f)))
		}
		to.Stacks = append(to.Stacks, s)
	}
	to.More = len(list) - len(to.Stacks)
	b.data.Contexts = to
	return nil
}

func frameLabel(f *session.Site) string {
	if f == nil {
		return "(not known)"
	}
	return f.Label()
}

func frameOf(index map[string]int, to *Contexts, label string) int {
	n, ok := index[label]
	if !ok {
		n = len(to.Frames)
		index[label] = n
		to.Frames = append(to.Frames, printable(label))
	}
	return n
}

// firstShare is the name of the longest share.
func firstShare(s wait.Shares) string {
	if list := s.List(); len(list) > 0 {
		return printable(list[0].Name)
	}
	return ""
}

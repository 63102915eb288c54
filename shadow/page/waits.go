package page

import (
	"slices"

	"stackagent/shadow/session"
	"stackagent/shadow/summary"
	"stackagent/shadow/wait"
)

// mostWaitRows is how many things that were waited for have a row.
const mostWaitRows = 500

// waits fills in what tasks and threads waited for.
func (b *builder) waits() error {
	if b.sum.Figures == nil || b.sum.Figures.Waits == nil {
		b.missing("waits", "the session is too large, or only some classes are shown")
		return nil
	}
	a := b.sum.Figures.Waits
	if why := a.NotAvailable[wait.NoWaits]; why != "" && a.NotAvailable[wait.NoRecord] != "" {
		b.missing("waits", why)
		return nil
	}
	to := &Waits{Parts: []Label{}, Rows: []WaitRow{}}
	for _, p := range wait.Parts {
		to.Parts = append(to.Parts, Label{p.Name, p.Title, p.Doc})
	}
	for _, u := range a.ByUnit() {
		class, ok := b.classes.index[u.Name]
		if !ok {
			continue
		}
		to.Class, to.Slot = append(to.Class, narrow(class)), append(to.Slot, 0)
		for i := range wait.Parts {
			to.Parted = append(to.Parted, float64(wait.Parts[i].Ns(u)))
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

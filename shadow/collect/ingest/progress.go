package ingest

import "stackagent/shadow/store"

// Totals are sums over sessions since the shadow started.
type Totals struct {
	Sessions       uint64
	Running        uint64 // of these, that have not ended
	Received       store.Counts
	Stored         store.Counts
	LostEvents     uint64
	LostBatches    uint64
	Batches        uint64 // received
	Repeated       uint64
	Refused        uint64 // messages that were no batches, or not of their sender
	ForeignRows    uint64 // of the shadows' table on the bus, that no shadow had written
	Resting        uint64 // sessions that wait for their turn, of Running
	NoLongerListed uint64 // sessions, that Ingest.Sessions no longer lists
}

func (t *Totals) add(p *Progress) {
	t.Sessions++
	if p.Ended == store.EndedRunning {
		t.Running++
	}
	t.Received.Add(p.Received)
	t.Stored.Add(p.Stored)
	t.LostEvents += p.Lost.Events
	t.LostBatches += p.Lost.Batches
	t.Batches += p.Batches
	t.Repeated += p.Repeated
}

// known is what is shown of sessions. A shadow runs for months: of sessions that
// have ended and that nobody works on any more it keeps the latest, and of the
// others their sums.
type known struct {
	keep     int
	order    []string // folders in order of appearance
	progress map[string]*entry
	idle     int // entries that may go
	past     Totals
}

type entry struct {
	Progress
	left bool // no worker reports it any more
}

func newKnown(keep int) known { return known{keep: keep, progress: map[string]*entry{}} }

func (k *known) has(folder string) bool { return k.progress[folder] != nil }

func (k *known) report(p Progress) {
	e := k.progress[p.Folder]
	if e == nil {
		e = &entry{}
		k.progress[p.Folder] = e
		k.order = append(k.order, p.Folder)
	}
	if e.left { // it goes on, and its worker counts from 0
		e.left = false
		k.idle--
		k.past.Batches += e.Batches
		k.past.Repeated += e.Repeated
	}
	e.Progress = p
}

// left is called when the worker of a folder ends. A tenth more than is kept may
// gather before the oldest go together.
func (k *known) left(folder string) {
	e := k.progress[folder]
	if e == nil || e.left {
		return
	}
	e.left = true
	if k.idle++; k.idle <= k.keep+k.keep/10 {
		return
	}
	stay := k.order[:0]
	for _, f := range k.order {
		if e := k.progress[f]; e.left && k.idle > k.keep {
			k.past.add(&e.Progress)
			k.past.NoLongerListed++
			delete(k.progress, f)
			k.idle--
			continue
		}
		stay = append(stay, f)
	}
	clear(k.order[len(stay):])
	k.order = stay
}

func (k *known) list() []Progress {
	all := make([]Progress, len(k.order))
	for i, f := range k.order {
		all[i] = k.progress[f].Progress
	}
	return all
}

func (k *known) totals() Totals {
	t := k.past
	t.Running = 0 // who has left is not running
	for _, f := range k.order {
		t.add(&k.progress[f].Progress)
	}
	return t
}

// Sum is the totals of the sessions in list.
func Sum(list []Progress) (t Totals) {
	for i := range list {
		t.add(&list[i])
	}
	return t
}

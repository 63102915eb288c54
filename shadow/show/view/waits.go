package view

import (
	"slices"

	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
)

// Waits are the columns of what threads waited for; bySite: and where.
func Waits(bySite bool) []listing.Column[*wait.Row] {
	site := ""
	if bySite {
		site = "site"
	}
	return []listing.Column[*wait.Row]{
		{Name: "for", Title: "for", Kind: listing.Word, Doc: "monitor, synchronizer, io, sleep, carrier, gc, queue or other", Value: func(r *wait.Row) listing.Value { return listing.WordOf(r.For) }},
		{Name: "waits", Title: "waits", Kind: listing.Int, Unit: listing.Count, Doc: "waits", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.Waits) }},
		{Name: "waited_ns", Title: "waited", Kind: listing.Int, Unit: listing.Ns, Doc: "time waited, summed over the threads", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.WaitedNs) }},
		{Name: "max_ns", Title: "longest", Kind: listing.Int, Unit: listing.Ns, Doc: "the longest wait", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.MaxNs) }},
		waitShares("wakers", "ended by", "who ended the waits: classes of units, or pools", func(r *wait.Row) wait.Shares { return r.Wakers }),
		waitShares("holders", "held by", "who owned the lock when the waits began: classes of units, or pools", func(r *wait.Row) wait.Shares { return r.Holders }),
		{Name: "class", Title: "class", Last: 2, Kind: listing.Name, Doc: "what it was, as a reader knows it", Value: func(r *wait.Row) listing.Value { return listing.NameOf(r.Class) }},
		{Name: "site", Title: site, Last: 1, Kind: listing.Name, Doc: "the program's nearest frame; empty: not known, or not asked for", Value: func(r *wait.Row) listing.Value { return listing.NameOf(r.Site) }},
		{Name: "kind", Kind: listing.Word, Doc: "how the threads waited: monitor, notify, park, sleep, io, or a state of the scheduling record", Value: func(r *wait.Row) listing.Value { return listing.WordOf(r.Kind) }},
		{Name: "blocker", Kind: listing.Name, Doc: "Java name of the class of the object; empty: none, or not known", Value: func(r *wait.Row) listing.Value { return listing.NameOf(r.Blocker) }},
		{Name: "lock", Kind: listing.Name, Doc: "of a condition: the class of its lock's synchronizer", Value: func(r *wait.Row) listing.Value { return listing.NameOf(r.Lock) }},
		{Name: "summed", Kind: listing.Int, Unit: listing.Count, Doc: "waits that were not recorded one by one", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.Summed) }},
		{Name: "timed", Kind: listing.Int, Unit: listing.Count, Doc: "waits recorded one by one that had a time limit", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.Timed) }},
		{Name: "pinned", Kind: listing.Int, Unit: listing.Count, Doc: "of them, by virtual threads that kept their carriers", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.Pinned) }},
		{Name: "open", Kind: listing.Int, Unit: listing.Count, Doc: "of them, not ended when the session did", Value: func(r *wait.Row) listing.Value { return listing.IntOf(r.Open) }},
	}
}

// most is the share of the waited time from which on a part stands for the whole.
const most = 0.5

// waitShares is a column of who ended waits, or was waited for: on the terminal the first of them, with its share of the time if that is
// less than most of it. The rest may have reached a time limit.
func waitShares(name, title, doc string, of func(*wait.Row) wait.Shares) listing.Column[*wait.Row] {
	first := func(r *wait.Row) string {
		if list := of(r).List(); len(list) > 0 {
			if share := float64(list[0].WaitedNs) / float64(max(r.WaitedNs, 1)); share < most {
				return list[0].Name + " " + units.FormatPercent(share)
			}
			return list[0].Name
		}
		return ""
	}
	return listing.Column[*wait.Row]{Name: name, Title: title, Kind: listing.Name, Doc: doc, Holds: []*wait.Share{},
		Value: func(r *wait.Row) listing.Value {
			list := of(r).List()
			if list == nil {
				list = []*wait.Share{}
			}
			return listing.ObjectOf(list)
		},
		Text: func(r *wait.Row) string { return text.Cell(first(r)) }, Show: first}
}

// UnitWaits are the columns of where the time of units went; the terminal lacks columns that are empty in all of rows.
func UnitWaits(rows []*wait.Breakdown) []listing.Column[*wait.Breakdown] {
	columns := []listing.Column[*wait.Breakdown]{
		{Name: "class", Title: "class", Last: 2, Kind: listing.Name, Doc: "class of the units of work, as in hotspots --units", Value: func(r *wait.Breakdown) listing.Value { return listing.NameOf(r.Name) }},
		{Name: "units", Title: "units", Kind: listing.Int, Unit: listing.Count, Doc: "units of work", Value: func(r *wait.Breakdown) listing.Value { return listing.IntOf(r.Units) }},
		{Name: "summarised", Kind: listing.Int, Unit: listing.Count, Doc: "of them, not recorded one by one", Value: func(r *wait.Breakdown) listing.Value { return listing.IntOf(r.Summarised) }},
		{Name: "queued", Kind: listing.Int, Unit: listing.Count, Doc: "of them, with a known queue time", Value: func(r *wait.Breakdown) listing.Value { return listing.IntOf(r.Queued) }},
		waitTime(rows, "response_ns", "response", "queue time and wall time", (*wait.Breakdown).ResponseNs),
		waitTime(rows, "queue_ns", "queue", "time in the queue, as far as known", func(r *wait.Breakdown) units.Ns { return r.QueueNs }),
		waitTime(rows, "wall_ns", "wall", "wall time: the sum of the columns that follow", (*wait.Breakdown).WallNs),
	}
	return append(columns, waitParts(rows)...)
}

// ThreadWaits are the columns of where the time of threads went.
func ThreadWaits(rows []*wait.Breakdown) []listing.Column[*wait.Breakdown] {
	columns := []listing.Column[*wait.Breakdown]{
		{Name: "thread", Title: "thread", Kind: listing.Name, Doc: "name#id; all virtual threads are one row", Value: func(r *wait.Breakdown) listing.Value { return listing.NameOf(r.Name) }},
		{Name: "threads", Kind: listing.Int, Unit: listing.Count, Doc: "threads in the row", Value: func(r *wait.Breakdown) listing.Value { return listing.IntOf(r.Units) }},
		waitTime(rows, "wall_ns", "wall", "its time in the session: the sum of the columns that follow", (*wait.Breakdown).WallNs),
	}
	return append(columns, waitParts(rows)...)
}

// waitTime is a column of a time; the terminal lacks it if it is 0 in all rows.
func waitTime(rows []*wait.Breakdown, name, title, doc string, of func(*wait.Breakdown) units.Ns) listing.Column[*wait.Breakdown] {
	if !slices.ContainsFunc(rows, func(r *wait.Breakdown) bool { return of(r) != 0 }) {
		title = ""
	}
	return listing.Column[*wait.Breakdown]{Name: name, Title: title, Kind: listing.Int, Unit: listing.Ns, Doc: doc,
		Value: func(r *wait.Breakdown) listing.Value { return listing.IntOf(of(r)) },
		Show: func(r *wait.Breakdown) string {
			if of(r) == 0 {
				return ""
			}
			return units.FormatNs(of(r))
		}}
}

// waitParts are the columns of the parts, and of what the waiting was for.
func waitParts(rows []*wait.Breakdown) []listing.Column[*wait.Breakdown] {
	var columns []listing.Column[*wait.Breakdown]
	for i := range wait.Parts {
		p := &wait.Parts[i]
		columns = append(columns, waitTime(rows, p.Name+"_ns", p.Title, p.Doc, p.Ns))
	}
	return append(columns, listing.Column[*wait.Breakdown]{Name: "waited_for", Title: "mostly for", Last: 1, Kind: listing.Name, Holds: []waitFor{}, Doc: "what was waited for, longest first; in csv the most of it, with its share of the wall time",
		Value: func(r *wait.Breakdown) listing.Value { return listing.ObjectOf(waitsFor(r)) }, Text: func(r *wait.Breakdown) string { return text.Cell(r.Mostly()) }, Show: (*wait.Breakdown).Mostly})
}

// waitFor is a wait.For in JSON.
type waitFor struct {
	For      string   `json:"for"`
	Class    string   `json:"class"`
	Blocker  string   `json:"blocker"`
	WaitedNs units.Ns `json:"waited_ns"`
}

func waitsFor(r *wait.Breakdown) []waitFor {
	list := make([]waitFor, 0, len(r.For))
	for _, f := range r.For {
		list = append(list, waitFor{f.For, f.Class, f.Blocker, f.WaitedNs})
	}
	return list
}

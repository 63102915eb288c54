package threads

import (
	"stackagent/internal/units"
	"stackagent/shadow/summary"
	"stackagent/shadow/view"
)

// VirtualColumns are the columns of the classes of virtual threads.
var VirtualColumns = []view.Column[*summary.VirtualClass]{
	{Name: "class", Title: "class", Kind: view.Name, Doc: "class of the body", Value: func(c *summary.VirtualClass) view.Value { return view.NameOf(c.Class) }},
	virtualCount("threads", "threads", "threads with this body", func(c *summary.VirtualClass) *uint64 { return &c.Threads }),
	virtualCount("alive", "", "threads that were alive at the end", func(c *summary.VirtualClass) *uint64 { return &c.Alive }),
	virtualCount("mounts", "mounts", "times that they got onto a carrier", func(c *summary.VirtualClass) *uint64 { return &c.Mounts }),
	virtualCount("median_mounts", "median", "mounts of one thread, median; empty if some were recorded only together", func(c *summary.VirtualClass) *uint64 { return c.MedianMounts }),
	virtualCount("most_mounts", "most", "mounts of one thread, at most", func(c *summary.VirtualClass) *uint64 { return &c.MostMounts }),
	virtualCount("carrier_changes", "other carrier", "times that the carrier was another than before", func(c *summary.VirtualClass) *uint64 { return &c.Changes }),
	virtualTime("away_ns", "away", "time off their carriers", func(c *summary.VirtualClass) units.Ns { return c.AwayNs }),
	virtualTime("most_away_ns", "", "of one stretch, at most", func(c *summary.VirtualClass) units.Ns { return c.MostAwayNs }),
	virtualTime("ready_ns", "waited for carrier", "time ready to go on, waiting for a carrier", func(c *summary.VirtualClass) units.Ns { return ifReady(c, c.ReadyNs) }),
	virtualTime("most_ready_ns", "most", "of one stretch, at most", func(c *summary.VirtualClass) units.Ns { return ifReady(c, &c.MostReadyNs) }),
	virtualCount("pins", "pins", "times that they parked without leaving their carriers", func(c *summary.VirtualClass) *uint64 { return &c.Pins }),
	virtualTime("pinned_ns", "pinned", "time parked without leaving their carriers", func(c *summary.VirtualClass) units.Ns { return c.PinnedNs }),
	virtualTime("most_pinned_ns", "most", "of one stretch, at most", func(c *summary.VirtualClass) units.Ns { return c.MostPinnedNs }),
}

func virtualCount(name, title, doc string, of func(*summary.VirtualClass) *uint64) view.Column[*summary.VirtualClass] {
	return view.Column[*summary.VirtualClass]{Name: name, Title: title, Kind: view.Uint, Unit: view.Count, Doc: doc,
		Value: func(c *summary.VirtualClass) view.Value { return view.Opt(of(c), view.UintOf[uint64]) }}
}

func virtualTime(name, title, doc string, of func(*summary.VirtualClass) units.Ns) view.Column[*summary.VirtualClass] {
	return view.Column[*summary.VirtualClass]{Name: name, Title: title, Kind: view.Int, Unit: view.Ns, Doc: doc,
		Value: func(c *summary.VirtualClass) view.Value { return view.Measured(of(c)) }}
}

// ifReady is n if the times of waiting for a carrier were measured.
func ifReady(c *summary.VirtualClass, n *units.Ns) units.Ns {
	if c.ReadyNs == nil {
		return units.NotMeasured
	}
	return *n
}

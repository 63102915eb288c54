package threads

import (
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/session/virtual"
)

// VirtualColumns are the columns of the classes of virtual threads.
var VirtualColumns = []listing.Column[*virtual.Class]{
	{Name: "class", Title: "class", Kind: listing.Name, Doc: "first class of the program that the thread executes", Value: func(c *virtual.Class) listing.Value { return listing.NameOf(c.Class) }},
	virtualCount("threads", "threads", "threads of this class", func(c *virtual.Class) *uint64 { return &c.Threads }),
	virtualCount("alive", "", "threads that were alive at the end", func(c *virtual.Class) *uint64 { return &c.Alive }),
	virtualCount("mounts", "mounts", "times that they got onto a carrier", func(c *virtual.Class) *uint64 { return &c.Mounts }),
	virtualCount("median_mounts", "median", "mounts of one thread, median; empty if some were recorded only together", func(c *virtual.Class) *uint64 { return c.MedianMounts }),
	virtualCount("most_mounts", "most", "mounts of one thread, at most", func(c *virtual.Class) *uint64 { return &c.MostMounts }),
	virtualCount("carrier_changes", "other carrier", "times that the carrier was another than before", func(c *virtual.Class) *uint64 { return &c.Changes }),
	virtualTime("away_ns", "away", "time off their carriers", func(c *virtual.Class) units.Ns { return c.AwayNs }),
	virtualTime("most_away_ns", "", "of one stretch, at most", func(c *virtual.Class) units.Ns { return c.MostAwayNs }),
	virtualTime("ready_ns", "waited for carrier", "time ready to go on, waiting for a carrier", func(c *virtual.Class) units.Ns { return ifReady(c, c.ReadyNs) }),
	virtualTime("most_ready_ns", "most", "of one stretch, at most", func(c *virtual.Class) units.Ns { return ifReady(c, &c.MostReadyNs) }),
	virtualCount("pins", "pins", "times that they parked without leaving their carriers", func(c *virtual.Class) *uint64 { return &c.Pins }),
	virtualTime("pinned_ns", "pinned", "time parked without leaving their carriers", func(c *virtual.Class) units.Ns { return c.PinnedNs }),
	virtualTime("most_pinned_ns", "most", "of one stretch, at most", func(c *virtual.Class) units.Ns { return c.MostPinnedNs }),
}

func virtualCount(name, title, doc string, of func(*virtual.Class) *uint64) listing.Column[*virtual.Class] {
	return listing.Column[*virtual.Class]{Name: name, Title: title, Kind: listing.Uint, Unit: listing.Count, Doc: doc,
		Value: func(c *virtual.Class) listing.Value { return listing.Opt(of(c), listing.UintOf[uint64]) }}
}

func virtualTime(name, title, doc string, of func(*virtual.Class) units.Ns) listing.Column[*virtual.Class] {
	return listing.Column[*virtual.Class]{Name: name, Title: title, Kind: listing.Int, Unit: listing.Ns, Doc: doc,
		Value: func(c *virtual.Class) listing.Value { return listing.Measured(of(c)) }}
}

// ifReady is n if waiting for a carrier was measured.
func ifReady(c *virtual.Class, n *units.Ns) units.Ns {
	if c.ReadyNs == nil {
		return units.NotMeasured
	}
	return *n
}

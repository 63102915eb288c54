package jvmti

/*
#include "drain.h"
#include "drain_cells.h"
*/
import "C"

import (
	"unsafe"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

const summaryWords = 1 << 17 // more than a cell has with every bucket in use of every metric

// Summaries goes through the threads' cells in rounds and returns a part of what is new in them, by class and by call
// site. more: the round is not over, and the next call continues it. The first call after a round starts the next one.
func (d *Drainer) Summaries() (list []wire.Summary, sites []wire.SiteSum, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.words == nil {
		d.words = make([]uint64, summaryWords)
	}
	var left C.bool
	n := C.sa_summaries_next((*C.uint64_t)(unsafe.Pointer(&d.words[0])), summaryWords, &left)
	for words := d.words[:n]; len(words) > 0; {
		length := words[0] &^ C.SA_REPORT_SITES
		if entry := words[:length]; length != words[0] {
			sites = appendSites(sites, entry)
		} else if entry[1] == 0 {
			d.virtual = append(d.virtual, decodeScheduled(entry))
		} else {
			list = append(list, DecodeSummary(entry))
		}
		words = words[length:]
	}
	if !left {
		d.waits = appendWaitSums(d.waits)
	}
	return list, sites, bool(left)
}

// appendSites reads what sa_cell_report_sites has written.
func appendSites(list []wire.SiteSum, w []uint64) []wire.SiteSum {
	of := wire.SiteSum{Class: uint32(w[1]), Thread: uint32(w[1] >> 32), Flags: wire.SummaryFlags(w[2])}
	for p := w[C.SA_REPORT_SITES_HEADER:]; len(p) > 0; p = p[2:] {
		of.Kind, of.Site, of.Count = wire.SiteKind(p[0]>>32), uint32(p[0]), p[1]
		list = append(list, of)
	}
	return list
}

// DecodeSummary reads what sa_cell_report has written. It is exported for the tests: one test file inside the package would have all its C
// files compiled once more.
func DecodeSummary(w []uint64) wire.Summary {
	s := wire.Summary{
		Class: uint32(w[1]), Thread: uint32(w[1] >> 32), Flags: wire.SummaryFlags(w[2]),
		From: units.Ticks(w[3]), To: units.Ticks(w[4]),
		Executions: w[5], First: w[6], Threw: w[7], Cut: w[8], CreationUnseen: w[9],
		Creations: w[10], Failed: w[11], Withdrawn: w[12],
		Submissions: w[13], Inner: w[14], Rejected: w[15], Cancelled: w[16], Timed: w[17],
		Outer: uint32(w[C.SA_REPORT_HEADER-3]), LastEnd: units.Ticks(w[C.SA_REPORT_HEADER-2]),
		Measures: make([]wire.Measure, w[C.SA_REPORT_HEADER-1]),
	}
	w = w[C.SA_REPORT_HEADER:]
	for i := range s.Measures {
		m := &s.Measures[i]
		*m = wire.Measure{Metric: wire.Metric(w[0]), Sum: w[1], Min: w[2], Max: w[3]}
		buckets := w[C.SA_REPORT_MEASURE:][:w[4]]
		m.Buckets = make([]histogram.Bucket, len(buckets))
		for k, b := range buckets {
			count := b & (1<<C.SA_REPORT_COUNT_BITS - 1)
			m.Buckets[k] = histogram.Bucket{Index: uint16(b >> C.SA_REPORT_COUNT_BITS), Count: count}
			m.Count += count
		}
		w = w[C.SA_REPORT_MEASURE+len(buckets):]
	}
	return s
}

// Virtual takes what the latest summaries have of virtual threads, by class and carrier.
func (d *Drainer) Virtual() []wire.VirtualThread {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.virtual
	d.virtual = nil
	return list
}

// decodeScheduled reads what sa_cell_report_scheduled has written.
func decodeScheduled(w []uint64) wire.VirtualThread {
	sums, most := w[4:], w[4+C.SA_V_SUMS:]
	v := wire.VirtualThread{
		Class: uint32(w[2]), At: units.Ticks(w[3]),
		Threads: sums[C.SA_V_THREADS], Mounts: sums[C.SA_V_MOUNTS], Changes: sums[C.SA_V_CHANGES], Pins: sums[C.SA_V_PINS],
		Pinned: units.Ticks(sums[C.SA_V_PINNED]), Away: units.Ticks(sums[C.SA_V_AWAY]), Ready: units.Ns(sums[C.SA_V_READY]),
		MostMounts: most[C.SA_V_MOST_MOUNTS], MostPinned: units.Ticks(most[C.SA_V_MOST_PINNED]),
		MostAway: units.Ticks(most[C.SA_V_MOST_AWAY]), MostReady: units.Ticks(most[C.SA_V_MOST_READY]),
	}
	if !C.sa_turns_ready_seen {
		v.Ready, v.MostReady = units.NotMeasured, 0
	}
	return v
}

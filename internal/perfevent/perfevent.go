// Package perfevent knows the names of the kernel's performance events: which
// numbers perf_event_open takes for them, and why it refuses one.
package perfevent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Event is what the kernel is to count; Type and Config as in perf_event_attr
// (linux/perf_event.h).
type Event struct {
	Name   string
	Type   uint32
	Config uint64

	// UserOnly leaves out what the kernel does on behalf of the thread. It is
	// the rule for hardware events: the count of user mode is the program's own,
	// and it is allowed at kernel.perf_event_paranoid=2.
	UserOnly bool

	// Narrow says that the event may be opened with UserOnly if the kernel allows no
	// more, with the same meaning.
	Narrow bool
}

// Types of events.
const (
	Hardware = 0
	Software = 1
	Cache    = 3
	Raw      = 4
)

// Longest is the longest name of an event, bytes.
const Longest = 48

type generic struct {
	kind   uint32
	config uint64
	narrow bool
}

// generics are the kernel's generic events by perf's names, and ours for three.
var generics = map[string]generic{
	"cycles": {Hardware, 0, false}, "cpu-cycles": {Hardware, 0, false},
	"instructions":     {Hardware, 1, false},
	"cache-references": {Hardware, 2, false}, "cache-misses": {Hardware, 3, false},
	"branches": {Hardware, 4, false}, "branch-instructions": {Hardware, 4, false},
	"branch-misses": {Hardware, 5, false}, "bus-cycles": {Hardware, 6, false},
	"stalled-cycles-frontend": {Hardware, 7, false}, "stalled-cycles-backend": {Hardware, 8, false},
	"ref_cycles": {Hardware, 9, false}, "ref-cycles": {Hardware, 9, false},

	"cpu-clock": {Software, 0, true}, "task-clock": {Software, 1, true},
	"page-faults": {Software, 2, true}, "faults": {Software, 2, true},
	"context-switches": {Software, 3, false}, "cs": {Software, 3, false},
	"cpu-migrations": {Software, 4, false}, "migrations": {Software, 4, false},
	"minor-faults": {Software, 5, true}, "major-faults": {Software, 6, true},
	"alignment-faults": {Software, 7, true}, "emulation-faults": {Software, 8, true},
}

var (
	caches    = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheName = regexp.MustCompile(`^(` + strings.Join(caches, "|") + `)-(?:(loads|stores|prefetches)|(load|store|prefetch)-misses)$`)
	cacheOps  = []string{"load", "store", "prefetch"}
	rawName   = regexp.MustCompile(`^r([0-9a-fA-F]{1,16})$`)
)

// Parse finds an event by its name: one of Names, "LLC-load-misses" and
// similar, or "rHEX" for a raw one; behind ":u" or ":uk" which modes to count.
func Parse(text string) (Event, error) {
	if len(text) > Longest {
		return Event{}, fmt.Errorf("event name of %d bytes, at most %d are allowed", len(text), Longest)
	}
	name, modes, _ := strings.Cut(text, ":")
	e := Event{Name: text}
	if g, ok := generics[name]; ok {
		e.Type, e.Config, e.Narrow = g.kind, g.config, g.narrow
	} else if m := cacheName.FindStringSubmatch(name); m != nil {
		e.Type, e.Config = Cache, cacheConfig(m)
	} else if m := rawName.FindStringSubmatch(name); m != nil {
		e.Type = Raw
		e.Config, _ = strconv.ParseUint(m[1], 16, 64) // the expression matches nothing else
	} else {
		return Event{}, fmt.Errorf("event %q is not known; events are %s, LLC-load-misses and the like, and raw ones as r01c2", name, strings.Join(Names(), ", "))
	}
	switch modes {
	case "":
		e.UserOnly = e.Type != Software
	case "u":
		e.UserOnly = true
	case "uk":
	default:
		return Event{}, fmt.Errorf("event %q: want :u (user mode) or :uk (and what the kernel does for the thread) behind the name", text)
	}
	return e, nil
}

// cacheConfig is the number of a cache event: cache, operation and result.
func cacheConfig(m []string) uint64 {
	op, result := m[2], uint64(0)
	if m[3] != "" {
		op, result = m[3], 1
	}
	of := slices.IndexFunc(cacheOps, func(o string) bool { return strings.HasPrefix(op, o) })
	ids := map[string]uint64{"L1-dcache": 0, "L1-icache": 1, "LLC": 2, "dTLB": 3, "iTLB": 4, "branch": 5, "node": 6}
	return ids[m[1]] | uint64(of)<<8 | result<<16
}

// Names are the generic events' names, sorted.
func Names() []string {
	names := make([]string, 0, len(generics))
	for name := range generics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

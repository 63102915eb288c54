package jvmti

/*
#include "life.h"
#include "state_contexts.h"
#include "state_waits.h"
*/
import "C"

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// appendWaitSums appends what is new of waits that are summed up.
func appendWaitSums(list []wire.WaitSum) []wire.WaitSum {
	var cursor *C.sa_os
	var row C.uint32_t
	var news [64]C.sa_wait_news
	for {
		n := C.sa_wait_sums_next(&cursor, &row, &news[0], C.size_t(len(news)))
		for i := range news[:n] {
			x := &news[i]
			list = append(list, wire.WaitSum{Thread: uint32(x.thread), Kind: wire.WaitKind(x.kind), Flags: wire.WaitFlags(x.flags),
				Blocker: uint32(x.blocker), Within: uint32(x.within), From: units.Ticks(x.from), To: units.Ticks(x.to),
				Waits: uint64(x.waits), Waited: units.Ticks(x.ticks), Most: units.Ticks(x.most)})
		}
		if n == 0 {
			return list
		}
	}
}

// SleepsSeen reports whether the agent measures Thread.sleep of platform threads.
func SleepsSeen() bool { return bool(C.sa_natives_sleep()) }

// WaitSums takes the sums of waits that the latest summaries came with, and the classes of what threads waited for that
// are new.
func (d *Drainer) WaitSums() (list []wire.WaitSum, blockers []wire.Blocker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, d.waits = d.waits, nil
	var id C.uint32_t
	var name, lock *C.char
	for C.sa_blockers_next(&id, &name, &lock) {
		blockers = append(blockers, wire.Blocker{ID: uint32(id), Class: text(name), Lock: text(lock)})
	}
	return list, blockers
}

// WaitSite is the place in the program where a thread waited, as a site; false: it is none.
func WaitSite(id uint32) (wire.Site, bool) {
	c := C.sa_wait_site(C.uint32_t(id))
	if c == nil {
		return wire.Site{}, false
	}
	return wire.Site{ID: id, Class: text(c.class_name), Method: text(c.method_name), File: text(c.file), Line: int32(c.line)}, true
}

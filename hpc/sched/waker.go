package sched

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Waker is what ended a wait, as the kernel's reports of wake-ups show it.
type Waker uint32

// The numbers never change: they are stored.
const (
	NoWaker Waker = 0 // not known: no wait, the wait goes on, or the source does not report it
	Outside Waker = 1 // no thread of the process: a time limit, a device, another process

	// The end of the process cut the wait, which would have gone on; of a futex with a time limit, it is CutLimited.
	Cut        Waker = math.MaxUint32
	CutLimited Waker = math.MaxUint32 - 1
)

// NoWakers is the key in Record.NotAvailable of a source that does not report who ends waits.
const NoWakers = "who ends a wait"

// WakerThread is the thread with index i of the record, which ended the wait in a system call.
func WakerThread(i uint32) Waker { return Waker(i) + Outside + 1 }

// Thread is the index of the thread in the record, if it was one.
func (w Waker) Thread() (i uint32, ok bool) {
	return uint32(w - Outside - 1), w > Outside && w < CutLimited
}

// Cut reports whether the end of the process ended the wait.
func (w Waker) Cut() bool { return w >= CutLimited }

// valid: the thread is one of the record's.
func (w Waker) valid(threads int) bool {
	i, ok := w.Thread()
	return !ok || int64(i) < int64(threads)
}

// moved is w in a record that has n threads more before its own.
func (w Waker) moved(n uint32) Waker {
	if _, ok := w.Thread(); ok {
		return w + Waker(n)
	}
	return w
}

// futexOf makes an address the number of a futex. A condition variable has two words in eight bytes.
func futexOf(address uint64) uint32 { return uint32(address >> 3) }

// isWait: the thread waits for something other than a CPU.
func (s State) isWait() bool { return s >= Futex }

// onCPU is the thread that was on the CPU when a wait ended: it ended the wait, or an interrupt stopped it to do so.
type onCPU struct {
	known    bool
	pid, tid int32 // 0: the CPU was idle
	call     int32 // number of its system call, or -1
}

// A wait that goes beyond a part becomes several slices, and only the last has the waker. So that the others need
// not be read to the end, the footer of each part lists the waits that it did not begin but ended.

// endedWaits lists them as "thread:waker,...", in the order of the slices.
func endedWaits(p *Part) string {
	var out []string
	for _, s := range p.Slices {
		if s.From > p.From {
			break
		}
		if s.State.isWait() && s.To < p.To {
			out = append(out, fmt.Sprintf("%d:%d", s.Thread, s.Waker))
		}
	}
	return strings.Join(out, ",")
}

// ending is the end of a wait in a part that did not begin it.
type ending struct {
	part  int // index in Reader.parts
	waker Waker
}

// parseEndings adds the list of a part to those of each thread.
func parseEndings(text string, part int, into map[uint32][]ending) error {
	for text != "" {
		var one string
		one, text, _ = strings.Cut(text, ",")
		thread, waker, _ := strings.Cut(one, ":")
		t, err := strconv.ParseUint(thread, 10, 32)
		w, err2 := strconv.ParseUint(waker, 10, 32)
		if err != nil || err2 != nil || t > math.MaxUint32 {
			return fmt.Errorf("%s: %.20q: %w", endedKey, one, ErrDamaged)
		}
		into[uint32(t)] = append(into[uint32(t)], ending{part, Waker(w)})
	}
	return nil
}

// endedBy is the waker of the wait with which s, the last slice of a thread in a part, goes beyond the part.
func (r *Reader) endedBy(s Slice, part int) Waker {
	all := r.endings[s.Thread]
	i := sort.Search(len(all), func(i int) bool { return all[i].part > part })
	if i == len(all) || !all[i].waker.valid(len(r.record.Threads)) {
		return NoWaker
	}
	return all[i].waker
}

package hpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// groupHead is how many words a group's values follow: their number, enabled and running time.
const groupHead = 3

type perfGroup struct {
	events []*perf.Event // the first is read
	fd     int
	buf    []byte
}

// OpenGroup implements GroupSource.
func (perfSource) OpenGroup(tid int, events []Event) (GroupCounter, error) {
	g := &perfGroup{buf: make([]byte, 8*(groupHead+len(events)))}
	for _, e := range events {
		attr, err := attrOf(e)
		var ev *perf.Event
		if err == nil {
			var leader *perf.Event
			if attr.CountFormat.Group = len(g.events) == 0; !attr.CountFormat.Group {
				leader = g.events[0]
			}
			if ev, err = perf.Open(attr, tid, perf.AnyCPU, leader); err == nil {
				g.events = append(g.events, ev)
				err = checkReserve(ev)
			}
		}
		if err != nil {
			g.Close() // nothing is written; a failure loses nothing
			return nil, unavailable(tid, e, err)
		}
	}
	var err error
	g.fd, err = g.events[0].FD()
	return g, err
}

func (g *perfGroup) Read(values []uint64) (enabled, running units.Ns, err error) {
	n, err := unix.Read(g.fd, g.buf)
	if err != nil {
		return 0, 0, fmt.Errorf("reading a group of events: %w", err)
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(g.buf[8*i:]) }
	if n < len(g.buf) || word(0) != uint64(len(g.events)) {
		return 0, 0, errors.New("reading a group of events: the kernel has stopped counting it")
	}
	for i := range values {
		values[i] = word(groupHead + i)
	}
	return units.Ns(word(1)), units.Ns(word(2)), nil
}

func (g *perfGroup) Close() error {
	var all error
	for i := len(g.events) - 1; i >= 0; i-- { // the first one last: it holds the group together
		all = errors.Join(all, g.events[i].Close())
	}
	return all
}

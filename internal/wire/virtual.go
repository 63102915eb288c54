package wire

import (
	"encoding/binary"
	"fmt"

	"stackagent/internal/units"
)

func appendVirtual(out []byte, list []VirtualThread) []byte {
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(list)))
	var body []byte
	for i := range list {
		body = appendVirtualThread(body[:0], &list[i])
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out
}

func appendVirtualThread(out []byte, v *VirtualThread) []byte {
	for _, n := range virtualThreadNumbers(v) {
		out = binary.AppendUvarint(out, n)
	}
	if v.Thread != 0 {
		return out
	}
	for _, n := range virtualThreadLaterNumbers(v) { // the largest of a single thread
		out = binary.AppendUvarint(out, n)
	}
	return out
}

// measuredNumber makes room for 0, which says that a value was not measured.
func measuredNumber(v units.Ns) uint64 {
	if !v.Measured() {
		return 0
	}
	return uint64(v) + 1
}

func numberMeasured(n uint64) units.Ns {
	if n == 0 {
		return units.NotMeasured
	}
	return units.Ns(n - 1)
}

// checkVirtual refuses what a reader would refuse.
func checkVirtual(list []VirtualThread) error {
	if len(list) > MaxEvents {
		return fmt.Errorf("%d virtual threads: %w", len(list), ErrTooMany)
	}
	for i := range list {
		if v := &list[i]; v.Thread != 0 && v.Threads != 1 {
			return fmt.Errorf("virtual thread %d stands for %d threads", v.Thread, v.Threads)
		}
	}
	return nil
}

// decodeVirtual is the inverse of appendVirtual; unknown counts the ends of
// entries that were passed over.
func decodeVirtual(data []byte, limit int) (list []VirtualThread, unknown int, err error) {
	return decodeBlocks(data, limit, virtualThreadFields+1, "virtual thread", "virtual threads", (*payload).virtual)
}

func (p *payload) virtual(v *VirtualThread, end int) {
	p.virtualThreadNumbers(v, end)
	if p.err == nil && v.Thread != 0 && v.Threads != 1 {
		p.err = p.fail("virtual.threads", "a single thread stands for another number of them")
	}
	if v.Thread == 0 && p.err == nil {
		p.virtualThreadLaterNumbers(v, end)
	}
}

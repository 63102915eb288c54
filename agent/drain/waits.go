package drain

import "stackagent/internal/wire"

// dropWaits makes sums of waits that find no way out, so that none is lost: by thread, or of all threads together
// where the sums are many already.
func (p *pending) dropWaits() {
	type key struct {
		thread uint32
		kind   wire.WaitKind
		flags  wire.WaitFlags
	}
	at := map[key]int{}
	for i := range p.Waits {
		x := &p.Waits[i]
		k := key{x.Thread, x.Kind, x.Flags}
		if len(p.waitSums) >= maxPendingThreads {
			k.thread = 0
		}
		n, ok := at[k]
		if !ok {
			n = len(p.waitSums)
			at[k] = n
			p.waitSums = append(p.waitSums, wire.WaitSum{Thread: k.thread, Kind: k.kind, Flags: k.flags, From: x.End})
		}
		s := &p.waitSums[n]
		s.From, s.To = min(s.From, x.End), max(s.To, x.End)
		s.Waits++
		s.Waited += x.End - x.Start
		s.Most = max(s.Most, x.End-x.Start)
	}
	p.Waits = p.Waits[:0]
}

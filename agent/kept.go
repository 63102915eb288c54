package agent

import (
	"encoding/binary"

	"stackagent/agent/instrument"
)

// kept is the plan of a class as an entry of plans.Store holds it. The numbers of its sites are 0 in the delta; places
// says where they belong.
type kept struct {
	executed bool
	loopCall string
	sites    []instrument.Site // without the class
	places   []place
	size     int // of the woven class
	delta    []byte
}

// place is where the number of a site is in the woven class.
type place struct {
	at   int
	site int // index in kept.sites
}

const (
	mostKeptSites = 1 << 13
	mostKeptClass = 1 << 24
)

func (k *kept) append(b []byte) []byte {
	executed := uint64(0)
	if k.executed {
		executed = 1
	}
	b = binary.AppendUvarint(b, executed)
	b = appendText(b, k.loopCall)
	b = binary.AppendUvarint(b, uint64(len(k.sites)))
	for _, s := range k.sites {
		for _, t := range []string{s.Method, s.File, s.Calls, s.Function} {
			b = appendText(b, t)
		}
		b = binary.AppendUvarint(b, uint64(s.Line))
	}
	b = binary.AppendUvarint(b, uint64(len(k.places)))
	for _, p := range k.places {
		b = binary.AppendUvarint(b, uint64(p.at))
		b = binary.AppendUvarint(b, uint64(p.site))
	}
	b = binary.AppendUvarint(b, uint64(k.size))
	return append(b, k.delta...)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// parser reads an entry. After a mistake it reads zero values.
type parser struct {
	b      []byte
	failed bool
}

// number reads one up to most.
func (p *parser) number(most int) int {
	n, k := binary.Uvarint(p.b)
	if p.failed || k <= 0 || n > uint64(most) {
		p.failed = true
		return 0
	}
	p.b = p.b[k:]
	return int(n)
}

func (p *parser) text() string {
	n := p.number(len(p.b))
	if p.failed || n > len(p.b) {
		p.failed = true
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

// parseKept is the inverse of append; the result keeps b.
func parseKept(b []byte) (kept, bool) {
	p := parser{b: b}
	k := kept{executed: p.number(1) == 1, loopCall: p.text()}
	for range p.number(mostKeptSites) {
		if p.failed {
			break
		}
		s := instrument.Site{Method: p.text(), File: p.text(), Calls: p.text(), Function: p.text()}
		s.Line = int32(p.number(1 << 16))
		k.sites = append(k.sites, s)
	}
	for range p.number(2 * mostKeptSites) {
		if p.failed {
			break
		}
		at := p.number(mostKeptClass)
		k.places = append(k.places, place{at: at, site: p.number(mostKeptSites)})
	}
	k.size, k.delta = p.number(mostKeptClass), p.b
	return k, !p.failed
}

// number puts the numbers of the sites into the woven class; false: a place or a site does not exist.
func (k *kept) number(woven []byte, ids []int32) bool {
	for _, p := range k.places {
		if p.at+2 > len(woven) || p.site >= len(ids) {
			return false
		}
		binary.BigEndian.PutUint16(woven[p.at:], uint16(ids[p.site]))
	}
	return true
}

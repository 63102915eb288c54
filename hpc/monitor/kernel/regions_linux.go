package kernel

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// addresses are a part of the address space; to is behind its last.
type addresses struct {
	from, to uint64
	region   region
}

// mapping is a line of /proc/PID/maps.
type mapping struct {
	from, to, offset uint64
	file             bool
	path             []byte
}

// eachMapping parses /proc/PID/maps. Lines that it cannot read are skipped.
func eachMapping(text []byte, use func(mapping)) {
	for line := range bytes.Lines(text) {
		if m, ok := parseMapping(bytes.TrimSuffix(line, []byte{'\n'})); ok {
			use(m)
		}
	}
}

// parseMapping parses "from-to perms offset device inode path"; the path may hold anything but a newline.
func parseMapping(line []byte) (m mapping, ok bool) {
	var fields [5][]byte
	for i := range fields {
		fields[i], line = nextWord(line)
	}
	from, to, cut := bytes.Cut(fields[0], []byte("-"))
	var err [4]error
	m.from, err[0] = strconv.ParseUint(string(from), 16, 64)
	m.to, err[1] = strconv.ParseUint(string(to), 16, 64)
	m.offset, err[2] = strconv.ParseUint(string(fields[2]), 16, 64)
	inode, err4 := strconv.ParseUint(string(fields[4]), 10, 64)
	err[3] = err4
	m.file, m.path = inode != 0, bytes.TrimLeft(line, " ")
	return m, cut && err == [4]error{} && m.from < m.to
}

// process is what the maps of a process say.
type process struct {
	mapped []addresses // files and stacks, in the order of addresses
	heap   addresses   // of ZGC, which maps it from a file in memory; all its views
	class  addresses   // what is mapped without a gap from where classes begin
	jvm    string      // path of libjvm.so; "": not loaded
	base   uint64      // where it is
}

var (
	heapFile = []byte("/memfd:java_heap")
	library  = []byte("/libjvm.so")
	archive  = []byte(".jsa")
	stack    = []byte("[stack]")
)

// readMaps reads the maps of a process in which classes begin at classBase; 0: not known.
func readMaps(text []byte, classBase uint64) (p process) {
	eachMapping(text, func(m mapping) {
		p.classes(m, classBase)
		switch {
		case bytes.HasPrefix(m.path, heapFile):
			if p.heap.to == 0 {
				p.heap = addresses{m.from, m.to, heapRegion}
			}
			p.heap.to = max(p.heap.to, m.to)
		case m.file:
			if p.jvm == "" && m.offset == 0 && bytes.HasSuffix(m.path, library) {
				p.jvm, p.base = string(m.path), m.from
			}
			p.mapped = append(p.mapped, addresses{m.from, m.to, fileRegion})
		case bytes.Equal(m.path, stack):
			p.mapped = append(p.mapped, addresses{m.from, m.to, stackRegion})
		}
	})
	return p
}

// classRange bounds the archive and the class space: compressed class pointers have 32 bits.
const classRange = 4 << 30

func (p *process) classes(m mapping, base uint64) {
	switch {
	case base == 0 || m.from < base || m.to-base > classRange:
	case p.class.to == 0 && m.from-base < 1<<20: // the archive's first page may be left out
		p.class = addresses{m.from, m.to, classRegion}
	case p.class.to == m.from && (!m.file || bytes.HasSuffix(m.path, archive)):
		p.class.to = m.to
	}
}

// table puts the JVM's own regions and what else is mapped into one list without overlaps, at most nEntries. The JVM's
// win. cut: the smallest mappings had no room.
func table(jvm, mapped []addresses) (all []addresses, cut bool) {
	for _, own := range jvm {
		all = append(all, without([]addresses{own}, all)...)
	}
	all = append(all, without(mapped, all)...)
	slices.SortFunc(all, func(a, b addresses) int { return cmp.Compare(a.from, b.from) })
	all = join(all)
	if cut = len(all) > nEntries; cut {
		slices.SortStableFunc(all, func(a, b addresses) int {
			if own := cmp.Compare(rank(a), rank(b)); own != 0 {
				return own
			}
			return cmp.Compare(b.to-b.from, a.to-a.from)
		})
		all = all[:nEntries]
		slices.SortFunc(all, func(a, b addresses) int { return cmp.Compare(a.from, b.from) })
	}
	return all, cut
}

func rank(a addresses) int {
	if a.region == fileRegion {
		return 1
	}
	return 0
}

// without is what is left of from outside of what.
func without(from, what []addresses) (left []addresses) {
	for _, a := range from {
		parts := []addresses{a}
		for _, w := range what {
			var rest []addresses
			for _, p := range parts {
				if w.to <= p.from || p.to <= w.from {
					rest = append(rest, p)
					continue
				}
				if p.from < w.from {
					rest = append(rest, addresses{p.from, w.from, p.region})
				}
				if w.to < p.to {
					rest = append(rest, addresses{w.to, p.to, p.region})
				}
			}
			parts = rest
		}
		left = append(left, parts...)
	}
	return left
}

// join makes neighbours of the same region one.
func join(all []addresses) (joined []addresses) {
	for _, a := range all {
		if n := len(joined); n > 0 && joined[n-1].region == a.region && joined[n-1].to == a.from {
			joined[n-1].to = a.to
			continue
		}
		joined = append(joined, a)
	}
	return joined
}

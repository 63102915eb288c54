package classfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
)

// add returns the index of the entry with this encoding, appending it if there
// is none. The result is the first of equal entries, so it is deterministic.
func (p *Pool) add(entry []byte) (uint16, error) {
	if p.buckets == nil {
		p.fillBuckets(2 * (len(p.off) + poolReserve))
		p.raw = append(p.memory().bytes.take(len(p.raw) + roomForEntries)[:0], p.raw...)
	}
	at := p.bucket(entry)
	if i := p.buckets[at]; i != 0 {
		return i, nil
	}
	slots := 1
	if t := Tag(entry[0]); t == TagLong || t == TagDouble {
		slots = 2
	}
	if len(p.off)+slots > maxPool {
		return 0, &PoolFullError{Count: len(p.off)}
	}
	i := uint16(len(p.off))
	p.off = append(p.off, int32(len(p.raw)))
	if slots == 2 {
		p.off = append(p.off, -1)
	}
	p.raw = append(p.raw, entry...)
	p.buckets[at] = i
	if 2*len(p.off) > len(p.buckets) {
		p.fillBuckets(4 * len(p.off))
	}
	return i, nil
}

// roomForEntries is the size of the names and references of the usual probes.
const roomForEntries = 1 << 10

// hashSeed decides the order of the buckets, which is not visible.
var hashSeed = maphash.MakeSeed()

// bucket finds the bucket of an entry: the one with its index, or an empty one.
func (p *Pool) bucket(entry []byte) int {
	mask := len(p.buckets) - 1
	for at := int(maphash.Bytes(hashSeed, entry)) & mask; ; at = (at + 1) & mask {
		if i := p.buckets[at]; i == 0 || bytes.Equal(p.entry(i), entry) {
			return at
		}
	}
}

// entry returns the encoding of entry i.
func (p *Pool) entry(i uint16) []byte {
	at := int(p.off[i])
	return p.raw[at:entryEnd(p.raw, at)]
}

// fillBuckets makes the hash table with at least n buckets. It is at most half full.
func (p *Pool) fillBuckets(n int) {
	p.buckets = p.memory().buckets.take(1 << bits.Len(uint(n-1)))
	for i := 1; i < len(p.off); i++ {
		if p.off[i] < 0 {
			continue
		}
		// Going up, the first of equal entries is the one that stays.
		if at := p.bucket(p.entry(uint16(i))); p.buckets[at] == 0 {
			p.buckets[at] = uint16(i)
		}
	}
}

func (p *Pool) memory() *Workspace {
	if p.work == nil {
		p.work = new(Workspace)
	}
	return p.work
}

// Entries to look up are encoded in one buffer: add copies the new ones.

func (p *Pool) add1(t Tag, a uint16) (uint16, error) {
	w := p.memory()
	w.entry = binary.BigEndian.AppendUint16(append(w.entry[:0], byte(t)), a)
	return p.add(w.entry)
}

func (p *Pool) add2(t Tag, a, b uint16) (uint16, error) {
	w := p.memory()
	w.entry = binary.BigEndian.AppendUint16(append(w.entry[:0], byte(t)), a)
	w.entry = binary.BigEndian.AppendUint16(w.entry, b)
	return p.add(w.entry)
}

// AddUtf8 returns the index of the Utf8 entry for s, which is modified UTF-8
// (for ASCII without NUL the same as UTF-8) of at most 65535 bytes.
func (p *Pool) AddUtf8(s string) (uint16, error) {
	if len(s) > math.MaxUint16 {
		return 0, &EditError{Where: "constant pool", What: fmt.Sprintf("string of %d bytes", len(s))}
	}
	w := p.memory()
	w.entry = binary.BigEndian.AppendUint16(append(w.entry[:0], byte(TagUtf8)), uint16(len(s)))
	w.entry = append(w.entry, s...)
	return p.add(w.entry)
}

func (p *Pool) addNamed(t Tag, s string) (uint16, error) {
	i, err := p.AddUtf8(s)
	if err != nil {
		return 0, err
	}
	return p.add1(t, i)
}

// AddClass returns the index of the Class entry for an internal name
// ("java/lang/Object") or array descriptor ("[I").
func (p *Pool) AddClass(name string) (uint16, error) { return p.addNamed(TagClass, name) }

// AddString returns the index of the String entry for s (modified UTF-8).
func (p *Pool) AddString(s string) (uint16, error) { return p.addNamed(TagString, s) }

// AddNameAndType returns the index of a NameAndType entry.
func (p *Pool) AddNameAndType(name, desc string) (uint16, error) {
	n, err := p.AddUtf8(name)
	if err != nil {
		return 0, err
	}
	d, err := p.AddUtf8(desc)
	if err != nil {
		return 0, err
	}
	return p.add2(TagNameAndType, n, d)
}

func (p *Pool) addRef(t Tag, owner, name, desc string) (uint16, error) {
	c, err := p.AddClass(owner)
	if err != nil {
		return 0, err
	}
	nt, err := p.AddNameAndType(name, desc)
	if err != nil {
		return 0, err
	}
	return p.add2(t, c, nt)
}

// AddFieldRef returns the index of a Fieldref entry.
func (p *Pool) AddFieldRef(owner, name, desc string) (uint16, error) {
	return p.addRef(TagFieldref, owner, name, desc)
}

// AddMethodRef returns the index of a Methodref entry, or of an
// InterfaceMethodref entry if the owner is an interface.
func (p *Pool) AddMethodRef(owner, name, desc string, ownerIsInterface bool) (uint16, error) {
	t := TagMethodref
	if ownerIsInterface {
		t = TagInterfaceMethodref
	}
	return p.addRef(t, owner, name, desc)
}

// AddInteger returns the index of an Integer entry.
func (p *Pool) AddInteger(v int32) (uint16, error) {
	return p.add(binary.BigEndian.AppendUint32([]byte{byte(TagInteger)}, uint32(v)))
}

// AddFloat returns the index of a Float entry.
func (p *Pool) AddFloat(v float32) (uint16, error) {
	return p.add(binary.BigEndian.AppendUint32([]byte{byte(TagFloat)}, math.Float32bits(v)))
}

// AddLong returns the index of a Long entry; it takes two indexes.
func (p *Pool) AddLong(v int64) (uint16, error) {
	return p.add(binary.BigEndian.AppendUint64([]byte{byte(TagLong)}, uint64(v)))
}

// AddDouble returns the index of a Double entry; it takes two indexes.
func (p *Pool) AddDouble(v float64) (uint16, error) {
	return p.add(binary.BigEndian.AppendUint64([]byte{byte(TagDouble)}, math.Float64bits(v)))
}

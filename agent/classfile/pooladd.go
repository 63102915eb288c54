package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// add returns the index of the entry with this encoding, appending it if there
// is none. The result is the first of equal entries, so it is deterministic.
func (p *Pool) add(entry []byte) (uint16, error) {
	if p.index == nil {
		p.buildIndex()
	}
	if i, ok := p.index[string(entry)]; ok {
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
	p.index[string(entry)] = i
	return i, nil
}

func (p *Pool) buildIndex() {
	p.index = make(map[string]uint16, len(p.off))
	end := len(p.str)
	for i := len(p.off) - 1; i > 0; i-- {
		if p.off[i] < 0 {
			continue
		}
		// Going down, the first of equal entries is the one that stays.
		p.index[p.str[p.off[i]:end]] = uint16(i)
		end = int(p.off[i])
	}
}

func entry1(t Tag, a uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{byte(t)}, a)
}

func entry2(t Tag, a, b uint16) []byte {
	return binary.BigEndian.AppendUint16(entry1(t, a), b)
}

// AddUtf8 returns the index of the Utf8 entry for s, which is modified UTF-8
// (for ASCII without NUL the same as UTF-8) of at most 65535 bytes.
func (p *Pool) AddUtf8(s string) (uint16, error) {
	if len(s) > math.MaxUint16 {
		return 0, &EditError{Where: "constant pool", What: fmt.Sprintf("string of %d bytes", len(s))}
	}
	e := make([]byte, 3, 3+len(s))
	e[0] = byte(TagUtf8)
	binary.BigEndian.PutUint16(e[1:], uint16(len(s)))
	return p.add(append(e, s...))
}

func (p *Pool) addNamed(t Tag, s string) (uint16, error) {
	i, err := p.AddUtf8(s)
	if err != nil {
		return 0, err
	}
	return p.add(entry1(t, i))
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
	return p.add(entry2(TagNameAndType, n, d))
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
	return p.add(entry2(t, c, nt))
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

package classfile

import (
	"encoding/binary"
	"fmt"
)

// Tag is the kind of a constant pool entry (JVMS 4.4).
type Tag uint8

// The tags of the constant pool. TagUnusable marks index 0 and the second index
// of a long or double.
const (
	TagUnusable           Tag = 0
	TagUtf8               Tag = 1
	TagInteger            Tag = 3
	TagFloat              Tag = 4
	TagLong               Tag = 5
	TagDouble             Tag = 6
	TagClass              Tag = 7
	TagString             Tag = 8
	TagFieldref           Tag = 9
	TagMethodref          Tag = 10
	TagInterfaceMethodref Tag = 11
	TagNameAndType        Tag = 12
	TagMethodHandle       Tag = 15
	TagMethodType         Tag = 16
	TagDynamic            Tag = 17
	TagInvokeDynamic      Tag = 18
	TagModule             Tag = 19
	TagPackage            Tag = 20
)

// maxPool is the largest constant_pool_count.
const maxPool = 65535

// Pool is a constant pool. Parse has checked every entry and what it refers to.
type Pool struct {
	work    *Workspace
	raw     []byte   // the entries as in the file, then the added ones
	str     string   // the entries of the file once more, to slice strings from
	off     []int32  // of each index's tag in raw; -1 where unusable
	buckets []uint16 // hash table of the indices, see pooladd.go
}

// sizes holds the bytes after the tag of an entry; -2 for Utf8, -1 for unknown tags.
var sizes = func() (of [256]int8) {
	for i := range of {
		of[i] = -1
	}
	of[TagUtf8] = -2
	for _, t := range []Tag{TagInteger, TagFloat, TagFieldref, TagMethodref, TagInterfaceMethodref,
		TagNameAndType, TagDynamic, TagInvokeDynamic} {
		of[t] = 4
	}
	of[TagLong], of[TagDouble] = 8, 8
	for _, t := range []Tag{TagClass, TagString, TagMethodType, TagModule, TagPackage} {
		of[t] = 2
	}
	of[TagMethodHandle] = 3
	return of
}()

// entrySize returns the bytes after the tag; -1 for unknown tags, -2 for Utf8.
func entrySize(t Tag) int { return int(sizes[t]) }

// scanPool reads constant_pool_count and the entries, without looking at what
// they refer to.
func scanPool(r *reader, w *Workspace) *Pool {
	count := int(r.u2())
	if r.err == nil && count == 0 {
		r.fail("constant_pool_count is 0")
	}
	// An entry takes at least 3 bytes and at most 2 indexes.
	if r.err == nil && count-1 > r.left() {
		r.failf("constant pool of %d entries in %d bytes", count-1, r.left())
	}
	if r.err != nil {
		return nil
	}
	p := &Pool{work: w, off: w.offsets.take(count + poolReserve)[:count]}
	start := r.off
	p.off[0] = -1
	for i := 1; i < count; i++ {
		p.off[i] = int32(r.off - start)
		end := entryEnd(r.b, r.off)
		if end < 0 {
			r.failEntry(i)
			return nil
		}
		if t := Tag(r.b[r.off]); t == TagLong || t == TagDouble {
			i++
			if i >= count {
				r.off = end
				r.fail("long or double in the last constant pool entry")
				return nil
			}
			p.off[i] = -1
		}
		r.off = end
	}
	p.raw = r.b[start:r.off:r.off]
	return p
}

// poolReserve is room for entries to be added.
const poolReserve = 64

// entryEnd returns the end of the pool entry at an offset, -1 if it is bad.
func entryEnd(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	end := at + 1 + entrySize(Tag(b[at]))
	if end < at { // Utf8
		if end = at + 3; end <= len(b) {
			end += int(b[at+1])<<8 | int(b[at+2])
		}
	}
	if end <= at || end > len(b) {
		return -1
	}
	return end
}

// failEntry reports what is wrong with pool entry i, which begins here.
func (r *reader) failEntry(i int) {
	t := Tag(r.u1())
	n := entrySize(t)
	switch n {
	case -2:
		n = int(r.u2())
	case -1:
		r.failf("constant pool entry %d has unknown tag %d", i, t)
	}
	r.bytes(n)
}

// parsePool reads and checks a constant pool.
func parsePool(r *reader, w *Workspace) *Pool {
	base := r.base + r.off + 2
	p := scanPool(r, w)
	if r.err != nil {
		return nil
	}
	p.str = string(p.raw)
	for i := 1; i < len(p.off); i++ {
		if p.off[i] < 0 {
			continue
		}
		if what := p.check(uint16(i)); what != "" {
			r.err = &FormatError{
				Offset: base + int(p.off[i]),
				What:   fmt.Sprintf("constant pool entry %d: %s", i, what),
			}
			return nil
		}
	}
	return p
}

// check says what is wrong with the references of an entry, or "".
func (p *Pool) check(i uint16) string {
	switch t := p.Tag(i); t {
	case TagClass, TagString, TagMethodType, TagModule, TagPackage:
		return p.want(i, 1, TagUtf8)
	case TagNameAndType:
		if s := p.want(i, 1, TagUtf8); s != "" {
			return s
		}
		return p.want(i, 3, TagUtf8)
	case TagFieldref, TagMethodref, TagInterfaceMethodref:
		if s := p.want(i, 1, TagClass); s != "" {
			return s
		}
		return p.want(i, 3, TagNameAndType)
	case TagDynamic, TagInvokeDynamic:
		return p.want(i, 3, TagNameAndType)
	case TagMethodHandle:
		switch kind := p.raw[p.off[i]+1]; {
		case kind >= 1 && kind <= 4:
			return p.want(i, 2, TagFieldref)
		case kind >= 5 && kind <= 9:
			if p.Tag(p.at2(i, 2)) == TagInterfaceMethodref {
				return ""
			}
			return p.want(i, 2, TagMethodref)
		default:
			return fmt.Sprintf("method handle of kind %d", kind)
		}
	}
	return ""
}

// want says what is wrong if the entry that i names at an offset is of another tag, or "".
func (p *Pool) want(i uint16, at int, tag Tag) string {
	ref := p.at2(i, at)
	got := p.Tag(ref)
	if got == tag {
		return ""
	}
	return fmt.Sprintf("refers to entry %d of tag %d, not %d", ref, got, tag)
}

// Len is constant_pool_count: one more than the largest index.
func (p *Pool) Len() int { return len(p.off) }

// Tag returns the tag at index i, TagUnusable where there is none.
func (p *Pool) Tag(i uint16) Tag {
	if int(i) >= len(p.off) || p.off[i] < 0 {
		return TagUnusable
	}
	return Tag(p.raw[p.off[i]])
}

// at2 reads the u2 that lies at bytes after the tag's position.
func (p *Pool) at2(i uint16, at int) uint16 {
	return binary.BigEndian.Uint16(p.raw[int(p.off[i])+at:])
}

func (p *Pool) mismatch(i uint16, want string) error {
	return &EntryError{Index: i, Tag: p.Tag(i), Want: want}
}

// Utf8 returns the raw modified UTF-8 of the Utf8 entry i.
func (p *Pool) Utf8(i uint16) (string, error) {
	if p.Tag(i) != TagUtf8 {
		return "", p.mismatch(i, "Utf8")
	}
	return p.utf8(i), nil
}

// utf8 is Utf8 for an index known to be one.
func (p *Pool) utf8(i uint16) string {
	at := int(p.off[i]) + 3
	end := at + int(p.at2(i, 1))
	if end <= len(p.str) {
		return p.str[at:end]
	}
	return string(p.raw[at:end])
}

// ClassName returns the internal name ("java/lang/Object", "[I") of the Class
// entry i.
func (p *Pool) ClassName(i uint16) (string, error) {
	if p.Tag(i) != TagClass {
		return "", p.mismatch(i, "Class")
	}
	return p.utf8(p.at2(i, 1)), nil
}

// String returns the raw modified UTF-8 of the String entry i.
func (p *Pool) String(i uint16) (string, error) {
	if p.Tag(i) != TagString {
		return "", p.mismatch(i, "String")
	}
	return p.utf8(p.at2(i, 1)), nil
}

// Integer returns the value of the Integer entry i.
func (p *Pool) Integer(i uint16) (int32, error) {
	if p.Tag(i) != TagInteger {
		return 0, p.mismatch(i, "Integer")
	}
	return int32(binary.BigEndian.Uint32(p.raw[p.off[i]+1:])), nil
}

// MemberRef returns owner (internal name), name and descriptor of the field,
// method or interface method reference i.
func (p *Pool) MemberRef(i uint16) (owner, name, desc string, err error) {
	switch p.Tag(i) {
	case TagFieldref, TagMethodref, TagInterfaceMethodref:
		name, desc = p.nameAndType(p.at2(i, 3))
		return p.utf8(p.at2(p.at2(i, 1), 1)), name, desc, nil
	}
	return "", "", "", p.mismatch(i, "field or method reference")
}

// NameAndType returns the name and descriptor of entry i, which is a
// NameAndType, Dynamic, InvokeDynamic, or a field or method reference.
func (p *Pool) NameAndType(i uint16) (name, desc string, err error) {
	switch p.Tag(i) {
	case TagNameAndType:
		name, desc = p.nameAndType(i)
		return name, desc, nil
	case TagDynamic, TagInvokeDynamic, TagFieldref, TagMethodref, TagInterfaceMethodref:
		name, desc = p.nameAndType(p.at2(i, 3))
		return name, desc, nil
	}
	return "", "", p.mismatch(i, "name and type")
}

func (p *Pool) nameAndType(i uint16) (name, desc string) {
	return p.utf8(p.at2(i, 1)), p.utf8(p.at2(i, 3))
}

// Bootstrap returns, for a Dynamic or InvokeDynamic entry, the index into the
// class's BootstrapMethods attribute.
func (p *Pool) Bootstrap(i uint16) (uint16, error) {
	if t := p.Tag(i); t != TagDynamic && t != TagInvokeDynamic {
		return 0, p.mismatch(i, "Dynamic or InvokeDynamic")
	}
	return p.at2(i, 1), nil
}

// MethodHandle returns the kind (1 to 9, JVMS table 5.4.3.5-A) of the
// MethodHandle entry i and the index of the reference it wraps.
func (p *Pool) MethodHandle(i uint16) (kind uint8, ref uint16, err error) {
	if p.Tag(i) != TagMethodHandle {
		return 0, 0, p.mismatch(i, "MethodHandle")
	}
	return p.raw[p.off[i]+1], p.at2(i, 2), nil
}

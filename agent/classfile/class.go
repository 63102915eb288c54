package classfile

import (
	"fmt"
	"slices"
)

// The class file versions that Parse accepts (JVMS table 4.1-A).
const (
	MinMajor = 45 // JDK 1.1
	MaxMajor = 69 // JDK 25
)

// Access and property flags (JVMS tables 4.1-B, 4.5-A, 4.6-A).
const (
	AccPublic       uint16 = 0x0001
	AccPrivate      uint16 = 0x0002
	AccProtected    uint16 = 0x0004
	AccStatic       uint16 = 0x0008
	AccFinal        uint16 = 0x0010
	AccSuper        uint16 = 0x0020
	AccSynchronized uint16 = 0x0020
	AccVolatile     uint16 = 0x0040
	AccBridge       uint16 = 0x0040
	AccTransient    uint16 = 0x0080
	AccNative       uint16 = 0x0100
	AccInterface    uint16 = 0x0200
	AccAbstract     uint16 = 0x0400
	AccSynthetic    uint16 = 0x1000
	AccEnum         uint16 = 0x4000
	AccModule       uint16 = 0x8000
)

// Class is a parsed class file. Its fields may be changed; unchanged parts are
// written as they were read.
type Class struct {
	Minor, Major uint16
	Pool         *Pool
	Access       uint16
	Name         string // internal name
	Super        string // internal name; "" for java/lang/Object and module-info
	Interfaces   []string
	Fields       []*Member
	Methods      []*Member
	Attributes   []*Attribute

	work        *Workspace
	marks       []int // where the operands of marked instructions are, relative to the end of the pool
	this, super nameIndex
	jumpLimit   int // how far a short jump reaches; 0: as far as the format allows; tests lower it
	interfaces  []nameIndex
}

// nameIndex remembers the pool entry of a name: a pool may hold equal entries, and
// untouched parts must keep their index.
type nameIndex struct {
	name  string
	index uint16
}

// Attribute is an attribute in its raw form.
type Attribute struct {
	Name string
	Data []byte // without name and length; not to be changed in place

	name   nameIndex
	offset int // of Data in the class file
}

// Member is a field or a method.
type Member struct {
	Access     uint16
	Name       string
	Descriptor string
	Attributes []*Attribute

	class      *Class
	isMethod   bool
	name, desc nameIndex
	code       *Code
}

// Parse reads a class file. The result refers to b, which must not be changed
// afterwards. Errors are *FormatError or *UnsupportedError.
func Parse(b []byte) (*Class, error) { return parse(new(Workspace), b) }

func parse(w *Workspace, b []byte) (*Class, error) {
	r := &reader{b: b}
	c := &Class{work: w}
	if r.u4() != magic {
		r.off = 0
		r.fail("no magic number 0xCAFEBABE")
	}
	c.Minor, c.Major = r.u2(), r.u2()
	if r.err != nil {
		return nil, r.err
	}
	if c.Major < MinMajor || c.Major > MaxMajor {
		return nil, &UnsupportedError{What: fmt.Sprintf(
			"version %d.%d (known are %d to %d)", c.Major, c.Minor, MinMajor, MaxMajor)}
	}
	c.Pool = parsePool(r, w)
	if r.err != nil {
		return nil, r.err
	}
	c.parseNames(r)
	c.Fields = c.parseMembers(r, false)
	c.Methods = c.parseMembers(r, true)
	c.Attributes = c.parseAttributes(r)
	if r.err == nil && r.left() > 0 {
		r.failf("%d bytes after the end of the class", r.left())
	}
	if r.err != nil {
		return nil, r.err
	}
	return c, nil
}

func (c *Class) parseNames(r *reader) {
	class := func(i uint16) nameIndex {
		if r.err != nil {
			return nameIndex{}
		}
		name, err := c.Pool.ClassName(i)
		if err != nil {
			r.failf("entry %d is no class", i)
		}
		return nameIndex{name, i}
	}
	c.Access = r.u2()
	c.this = class(r.u2())
	if super := r.u2(); super != 0 {
		c.super = class(super)
	}
	n := int(r.u2())
	if 2*n > r.left() {
		r.failf("%d interfaces in %d bytes", n, r.left())
	}
	if r.err != nil {
		return
	}
	c.Name, c.Super = c.this.name, c.super.name
	c.interfaces = make([]nameIndex, n)
	c.Interfaces = make([]string, n)
	for i := range n {
		c.interfaces[i] = class(r.u2())
		c.Interfaces[i] = c.interfaces[i].name
	}
}

func (c *Class) parseMembers(r *reader, methods bool) []*Member {
	n := int(r.u2())
	if 8*n > r.left() {
		r.failf("%d members in %d bytes", n, r.left())
	}
	if r.err != nil {
		return nil
	}
	list := make([]*Member, 0, n)
	store := c.work.members.take(n)
	for i := range n {
		m := &store[i]
		m.class, m.isMethod, m.Access = c, methods, r.u2()
		m.name = c.utf8(r)
		m.desc = c.utf8(r)
		m.Name, m.Descriptor = m.name.name, m.desc.name
		if methods && r.err == nil && !validMethodDescriptor(m.Descriptor) {
			r.failf("method %q has the bad descriptor %q", m.Name, m.Descriptor)
		}
		m.Attributes = c.parseAttributes(r)
		if r.err != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

// utf8 reads an index that must name a Utf8 entry.
func (c *Class) utf8(r *reader) nameIndex {
	i := r.u2()
	if r.err != nil {
		return nameIndex{}
	}
	if c.Pool.Tag(i) != TagUtf8 {
		r.failf("entry %d is no Utf8", i)
		return nameIndex{}
	}
	return nameIndex{c.Pool.utf8(i), i}
}

func (c *Class) parseAttributes(r *reader) []*Attribute {
	n := int(r.u2())
	if 6*n > r.left() {
		r.failf("%d attributes in %d bytes", n, r.left())
	}
	if r.err != nil || n == 0 {
		return nil
	}
	store := c.work.attributes.take(n)
	list := make([]*Attribute, n)
	for i := range store {
		a := &store[i]
		a.name = c.utf8(r)
		a.Name = a.name.name
		size := r.u4()
		if int64(size) > int64(r.left()) {
			r.failf("attribute %q of %d bytes, %d left", a.Name, size, r.left())
		}
		a.offset = r.base + r.off
		a.Data = r.bytes(int(size))
		if r.err != nil {
			return nil
		}
		list[i] = a
	}
	return list
}

// Method returns the method with this name and descriptor, or nil.
func (c *Class) Method(name, descriptor string) *Member { return find(c.Methods, name, descriptor) }

// Field returns the field with this name and descriptor, or nil.
func (c *Class) Field(name, descriptor string) *Member { return find(c.Fields, name, descriptor) }

func find(list []*Member, name, descriptor string) *Member {
	i := slices.IndexFunc(list, func(m *Member) bool {
		return m.Name == name && m.Descriptor == descriptor
	})
	if i < 0 {
		return nil
	}
	return list[i]
}

// AddField appends a field. The class must have none of this name and
// descriptor.
func (c *Class) AddField(access uint16, name, descriptor string) (*Member, error) {
	if c.Field(name, descriptor) != nil {
		return nil, &EditError{Where: c.Name, What: "field " + name + " " + descriptor + " exists already"}
	}
	if _, n := fieldType(descriptor); n != len(descriptor) || n == 0 {
		return nil, &EditError{Where: c.Name, What: "bad field descriptor " + descriptor}
	}
	m := &Member{class: c, Access: access, Name: name, Descriptor: descriptor}
	c.Fields = append(c.Fields, m)
	return m, nil
}

// AddMethod appends a method; code is nil for abstract and native methods. The
// class must have none of this name and descriptor.
func (c *Class) AddMethod(access uint16, name, descriptor string, code *Code) (*Member, error) {
	if c.Method(name, descriptor) != nil {
		return nil, &EditError{Where: c.Name, What: "method " + name + descriptor + " exists already"}
	}
	if !validMethodDescriptor(descriptor) {
		return nil, &EditError{Where: c.Name, What: "bad method descriptor " + descriptor}
	}
	m := &Member{class: c, isMethod: true, Access: access, Name: name, Descriptor: descriptor}
	if code != nil {
		code.method = m
		code.edited = true
		m.code = code
		m.Attributes = []*Attribute{{Name: "Code"}}
	}
	c.Methods = append(c.Methods, m)
	return m, nil
}

// Attribute returns the first attribute of this name, or nil.
func (m *Member) Attribute(name string) *Attribute {
	for _, a := range m.Attributes {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Class returns the class that m belongs to.
func (m *Member) Class() *Class { return m.class }

// String returns class.name and descriptor, as used in error messages.
func (m *Member) String() string { return m.class.Name + "." + m.Name + m.Descriptor }

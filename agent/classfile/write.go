package classfile

import (
	"fmt"
	"math"
	"slices"
)

// Write encodes the class. Unchanged parts are written as they were read. Errors are *TooLargeError, *PoolFullError, *EditError or
// *UnsupportedError.
func (c *Class) Write() ([]byte, error) {
	work := c.work
	if work == nil {
		work = new(Workspace)
	}
	w := &writer{b: work.class[:0]}
	c.marks = c.marks[:0]
	err := c.writeBody(w)
	work.class = w.b
	if err != nil {
		return nil, err
	}
	out := &writer{b: make([]byte, 0, 10+len(c.Pool.raw)+len(w.b))}
	out.u4(magic)
	out.u2(c.Minor)
	out.u2(c.Major)
	out.u2(uint16(len(c.Pool.off)))
	out.raw(c.Pool.raw)
	out.raw(w.b)
	return out.b, nil
}

// Marks are the offsets of the operands of marked instructions in what the last Write returned, in their order there.
func (c *Class) Marks() []int {
	marks := slices.Clone(c.marks)
	for i := range marks {
		marks[i] += 10 + len(c.Pool.raw)
	}
	return marks
}

// writeBody writes the part after the pool, and adds entries to the pool.
func (c *Class) writeBody(w *writer) error {
	w.u2(c.Access)
	if err := c.writeClass(w, c.Name, c.this); err != nil {
		return err
	}
	if err := c.writeClass(w, c.Super, c.super); err != nil {
		return err
	}
	if err := c.count(w, "interfaces", len(c.Interfaces)); err != nil {
		return err
	}
	for i, name := range c.Interfaces {
		var old nameIndex
		if i < len(c.interfaces) {
			old = c.interfaces[i]
		}
		if err := c.writeClass(w, name, old); err != nil {
			return err
		}
	}
	for _, list := range [][]*Member{c.Fields, c.Methods} {
		if err := c.count(w, "members", len(list)); err != nil {
			return err
		}
		for _, m := range list {
			if err := m.write(w); err != nil {
				return err
			}
		}
	}
	return c.writeAttributes(w, c.Attributes, nil)
}

func (c *Class) count(w *writer, what string, n int) error {
	if n > math.MaxUint16 {
		return &EditError{Where: c.Name, What: fmt.Sprintf("%d %s, at most 65535 are possible", n, what)}
	}
	w.u2(uint16(n))
	return nil
}

func (c *Class) writeClass(w *writer, name string, old nameIndex) error {
	if name == old.name {
		w.u2(old.index)
		return nil
	}
	if name == "" {
		w.u2(0)
		return nil
	}
	i, err := c.Pool.AddClass(name)
	w.u2(i)
	return err
}

func (c *Class) writeUtf8(w *writer, s string, old nameIndex) error {
	i, err := old.index, error(nil)
	if i == 0 || s != old.name {
		i, err = c.Pool.AddUtf8(s)
	}
	w.u2(i)
	return err
}

func (m *Member) write(w *writer) error {
	w.u2(m.Access)
	if err := m.class.writeUtf8(w, m.Name, m.name); err != nil {
		return err
	}
	if err := m.class.writeUtf8(w, m.Descriptor, m.desc); err != nil {
		return err
	}
	return m.class.writeAttributes(w, m.Attributes, m.code)
}

// writeAttributes writes a list of attributes; edited code replaces the
// Code attribute.
func (c *Class) writeAttributes(w *writer, list []*Attribute, code *Code) error {
	if err := c.count(w, "attributes", len(list)); err != nil {
		return err
	}
	for _, a := range list {
		if err := c.writeUtf8(w, a.Name, a.name); err != nil {
			return err
		}
		data, marks := a.Data, []int(nil)
		if code != nil && code.edited && a.Name == "Code" {
			var err error
			if data, err = code.encode(); err != nil {
				return err
			}
			marks = code.marks
		}
		w.u4(uint32(len(data)))
		for _, at := range marks {
			c.marks = append(c.marks, len(w.b)+at)
		}
		w.raw(data)
	}
	return nil
}

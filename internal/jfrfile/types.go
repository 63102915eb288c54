package jfrfile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Type is a type of events or of values.
type Type struct {
	ID     int64
	Name   string
	Super  string // jdk.jfr.Event: a type of events
	Fields []Field

	kind kind
}

// Field is a field of a type.
type Field struct {
	Name  string
	Type  *Type
	Array bool
	// Constant: in place of the value stands its key in the pool of the type.
	Constant bool
	// Unit is what a time is in: "TICKS", "NANOSECONDS", "MILLISECONDS", ...; empty: none, or no time.
	Unit string

	typeID int64
}

type kind uint8

const (
	object kind = iota
	boolean
	int8Kind
	charKind
	shortKind
	intKind
	longKind
	floatKind
	doubleKind
	stringKind
)

var kinds = map[string]kind{
	"boolean": boolean, "byte": int8Kind, "char": charKind, "short": shortKind, "int": intKind, "long": longKind,
	"float": floatKind, "double": doubleKind, "java.lang.String": stringKind,
}

// IndexOf is the place of a field, -1: there is none.
func (t *Type) IndexOf(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// element is a node of the description: <class name="..." id="...">...
type element struct {
	name       string
	attributes [][2]string
	children   []element
}

func (e *element) get(name string) string {
	for _, a := range e.attributes {
		if a[0] == name {
			return a[1]
		}
	}
	return ""
}

// elements reads the tree of a description.
type elements struct {
	c       *cursor
	strings []string
	left    int
}

func (r *elements) string() string {
	i := r.c.int()
	if i < 0 || i >= int64(len(r.strings)) {
		r.c.bad = true
		return ""
	}
	return r.strings[i]
}

func (r *elements) read(depth int) (e element) {
	e.name = r.string()
	n := r.c.int()
	if depth > maxDepth || n < 0 || n > int64(r.c.left()) {
		r.c.bad = true
		return e
	}
	for range n {
		if r.left--; r.c.bad || r.left < 0 {
			r.c.bad = true
			return e
		}
		e.attributes = append(e.attributes, [2]string{r.string(), r.string()})
	}
	n = r.c.int()
	if n < 0 || n > int64(r.c.left()) {
		r.c.bad = true
		return e
	}
	for range n {
		if r.left--; r.c.bad || r.left < 0 {
			r.c.bad = true
			return e
		}
		e.children = append(e.children, r.read(depth+1))
	}
	return e
}

func (c *Chunk) readMetadata() error {
	in, err := c.record(c.metadata, MaxMetadata, "a description")
	if err != nil {
		return err
	}
	if id := in.long(); id != 0 || in.bad {
		return c.fail(c.metadata, "an event of type %d stands where the description should be", id)
	}
	in.long() // start
	in.long() // duration
	in.long() // its number
	n := in.int()
	if n < 0 || n > int64(in.left()) {
		return c.fail(c.metadata, "a description with %d names", n)
	}
	r := &elements{c: in, left: maxElements}
	for range n {
		s, _, constant := in.text()
		if constant || in.bad {
			return c.fail(c.metadata, "a name in the description is damaged")
		}
		r.strings = append(r.strings, s)
	}
	root := r.read(0)
	if in.bad {
		return c.fail(c.metadata, "the description is damaged, or larger than what is read")
	}
	return c.addTypes(&root)
}

func (c *Chunk) addTypes(root *element) error {
	c.types = map[int64]*Type{}
	for i := range root.children {
		if root.children[i].name != "metadata" {
			continue
		}
		for j := range root.children[i].children {
			e := &root.children[i].children[j]
			if e.name != "class" {
				continue
			}
			id, err := strconv.ParseInt(e.get("id"), 10, 64)
			if err != nil || len(c.types) == maxTypes {
				return c.fail(c.metadata, "type number %d with the id %.20q", len(c.types)+1, e.get("id"))
			}
			t := &Type{ID: id, Name: e.get("name"), Super: e.get("superType"), kind: kinds[e.get("name")]}
			if err := c.addFields(t, e); err != nil {
				return err
			}
			c.types[id] = t
			if t.kind == stringKind {
				c.strings = id
			}
		}
	}
	for _, t := range c.types {
		for k := range t.Fields {
			f := &t.Fields[k]
			if f.Type = c.types[f.typeID]; f.Type == nil {
				return c.fail(c.metadata, "the field %.100q of %.100q has the type %d, which is not described", f.Name, t.Name, f.typeID)
			}
		}
	}
	c.Types = slices.SortedFunc(maps.Values(c.types), func(a, b *Type) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

func (c *Chunk) addFields(t *Type, e *element) error {
	for k := range e.children {
		x := &e.children[k]
		if x.name != "field" {
			continue
		}
		id, err := strconv.ParseInt(x.get("class"), 10, 64)
		if err != nil || len(t.Fields) == maxFields {
			return c.fail(c.metadata, "field number %d of %.100q is damaged", len(t.Fields)+1, t.Name)
		}
		dimension := x.get("dimension")
		t.Fields = append(t.Fields, Field{Name: x.get("name"), typeID: id, Array: dimension != "" && dimension != "0", Constant: x.get("constantPool") == "true", Unit: unit(x)})
	}
	return nil
}

// unit finds the annotation of a field that says what a time is in. Annotations name their types by id, which may be
// described only later; their values distinguish them.
func unit(field *element) string {
	for i := range field.children {
		switch v := field.children[i].get("value"); v {
		case "TICKS", "NANOSECONDS", "MICROSECONDS", "MILLISECONDS", "SECONDS", "SECONDS_SINCE_EPOCH", "MILLISECONDS_SINCE_EPOCH", "NANOSECONDS_SINCE_EPOCH":
			return v
		}
	}
	return ""
}

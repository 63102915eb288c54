package classfile

// TypeAnnotation is an entry of a Runtime(In)VisibleTypeAnnotations attribute
// of a Code (JVMS 4.7.20). Targets that lie outside of the code are kept as the
// numbers they are; the JVM never looks at them.
type TypeAnnotation struct {
	Visible    bool
	TargetType byte
	At         *Label          // 0x43 to 0x4B: right before the instruction
	TypeIndex  byte            // 0x47 to 0x4B: which type argument
	Variables  []VariableRange // 0x40, 0x41
	Handler    *Handler        // 0x42

	rest       []byte // target_path and annotation; everything if unresolved
	unresolved bool
}

// VariableRange is where an annotated local variable lives.
type VariableRange struct {
	Start, End *Label
	Slot       uint16
}

// maxNesting bounds the depth of annotations within annotations.
const maxNesting = 64

func (d *decoder) typeAnnotations(r *reader, visible bool) {
	n := int(r.u2())
	if 6*n > r.left() {
		r.failf("%s: %d type annotations in %d bytes", d.m, n, r.left())
		return
	}
	for range n {
		a := d.typeAnnotation(r)
		if r.err != nil {
			return
		}
		a.Visible = visible
		d.c.TypeAnnotations = append(d.c.TypeAnnotations, a)
	}
}

func (d *decoder) typeAnnotation(r *reader) TypeAnnotation {
	start := r.off
	a := TypeAnnotation{TargetType: r.u1()}
	switch t := a.TargetType; {
	case t == 0x40 || t == 0x41:
		a.unresolved = !d.variableRanges(r, &a)
	case t == 0x42:
		i := int(r.u2())
		if a.unresolved = i >= len(d.c.Handlers); !a.unresolved {
			a.Handler = d.c.Handlers[i]
		}
	case t >= 0x43 && t <= 0x4B:
		off := int(r.u2())
		if r.err == nil {
			a.At = d.pin(off)
			a.unresolved = a.At == nil
		}
		if t >= 0x47 {
			a.TypeIndex = r.u1()
		}
	default:
		r.failf("%s: type annotation of target %#x in code", d.m, t)
	}
	if !a.unresolved {
		start = r.off
	}
	r.bytes(2 * int(r.u1())) // type_path
	skipAnnotation(r, 0)
	if r.err == nil {
		a.rest = r.b[start:r.off]
	}
	return a
}

// variableRanges reads the table of a localvar target; false if it points
// outside of the code.
func (d *decoder) variableRanges(r *reader, a *TypeAnnotation) bool {
	n := int(r.u2())
	if 6*n > r.left() {
		r.failf("%s: %d variable ranges in %d bytes", d.m, n, r.left())
		return false
	}
	ok := true
	for range n {
		start, length := int(r.u2()), int(r.u2())
		v := VariableRange{Slot: r.u2()}
		v.Start, v.End = d.label(start), d.label(start+length)
		ok = ok && v.Start != nil && v.End != nil
		a.Variables = append(a.Variables, v)
	}
	return ok
}

// skipAnnotation moves over type_index and the element-value pairs.
func skipAnnotation(r *reader, depth int) {
	r.u2()
	n := int(r.u2())
	for i := 0; i < n && r.err == nil; i++ {
		r.u2()
		skipElement(r, depth+1)
	}
}

func skipElement(r *reader, depth int) {
	if depth > maxNesting {
		r.failf("annotations nested more than %d deep", maxNesting)
		return
	}
	switch tag := r.u1(); tag {
	case 'e':
		r.bytes(4)
	case '@':
		skipAnnotation(r, depth)
	case '[':
		n := int(r.u2())
		for i := 0; i < n && r.err == nil; i++ {
			skipElement(r, depth+1)
		}
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z', 's', 'c':
		r.bytes(2)
	default:
		r.failf("annotation element of kind %#x", tag)
	}
}

package classfile

// handlers reads the exception table.
func (d *decoder) handlers(r *reader) {
	n := int(r.u2())
	if 8*n > r.left() {
		r.failf("exception table of %d entries in %d bytes", n, r.left())
		return
	}
	if r.err != nil || n == 0 {
		return
	}
	store := d.work.handlers.take(n)
	d.c.Handlers = d.work.handlerRefs.take(n)[:0]
	for i := range n {
		start, end, target, class := int(r.u2()), int(r.u2()), int(r.u2()), r.u2()
		h := &store[i]
		h.Start, h.End, h.Target = d.target(start), d.label(end), d.target(target)
		if h.Start == nil || h.End == nil || h.Target == nil || start >= end {
			r.failf("%s: exception range %d to %d with handler %d", d.m, start, end, target)
			return
		}
		if class != 0 {
			name, err := d.pool.ClassName(class)
			if err != nil || name == "" {
				r.failf("%s: catch type %d is no class", d.m, class)
				return
			}
			h.CatchType = name
		}
		d.c.Handlers = append(d.c.Handlers, h)
	}
}

// attributes reads the attributes of the code: those with positions are
// decoded, all others kept.
func (d *decoder) attributes(r *reader) {
	for _, a := range d.m.class.parseAttributes(r) {
		if r.err != nil {
			return
		}
		t := &reader{b: a.Data, base: a.offset}
		switch a.Name {
		case "LineNumberTable":
			d.lines(t)
		case "LocalVariableTable":
			d.c.Variables = appendAll(d.c.Variables, d.variables(t))
		case "LocalVariableTypeTable":
			d.c.VariableTypes = appendAll(d.c.VariableTypes, d.variables(t))
		case "RuntimeVisibleTypeAnnotations":
			d.typeAnnotations(t, true)
		case "RuntimeInvisibleTypeAnnotations":
			d.typeAnnotations(t, false)
		case "StackMapTable":
			if d.m.class.Major < 50 {
				continue // has no meaning there, and its offsets would become wrong
			}
			d.stackMap(t)
		default:
			d.c.Attributes = append(d.c.Attributes, a)
			continue
		}
		if t.err == nil && t.left() > 0 {
			t.failf("%s: %d bytes after the end of %s", d.m, t.left(), a.Name)
		}
		if t.err != nil {
			r.err = t.err
			return
		}
	}
}

func (d *decoder) lines(r *reader) {
	n := int(r.u2())
	if 4*n > r.left() {
		r.failf("%s: %d line numbers in %d bytes", d.m, n, r.left())
		return
	}
	if d.c.Lines == nil { // it may be in several attributes
		d.c.Lines = d.work.lines.take(n)[:0]
	}
	for range n {
		at, line := int(r.u2()), r.u2()
		if at >= len(d.code) {
			r.failf("%s: line number at offset %d", d.m, at)
			return
		}
		d.c.Lines = append(d.c.Lines, LineNumber{At: d.near(at), Line: line})
	}
}

func (d *decoder) variables(r *reader) []LocalVariable {
	n := int(r.u2())
	if 10*n > r.left() {
		r.failf("%s: %d local variables in %d bytes", d.m, n, r.left())
		return nil
	}
	list := d.work.variables.take(n)[:0]
	for range n {
		start, length := int(r.u2()), int(r.u2())
		name, desc := d.m.class.utf8(r), d.m.class.utf8(r)
		v := LocalVariable{Name: name.name, Descriptor: desc.name, Slot: r.u2()}
		if start+length > len(d.code) {
			r.failf("%s: local variable from %d, %d bytes long", d.m, start, length)
		}
		if r.err != nil {
			return nil
		}
		v.Start, v.End = d.near(start), d.near(start+length)
		list = append(list, v)
	}
	return list
}

// stackMap reads a StackMapTable (JVMS 4.7.4) into absolute frames.
func (d *decoder) stackMap(r *reader) {
	n := int(r.u2())
	if n > r.left() {
		r.failf("%s: %d frames in %d bytes", d.m, n, r.left())
		return
	}
	locals := d.c.InitialFrame().Locals
	off, total := -1, 0
	for range n {
		f, delta := d.frame(r, locals)
		if r.err != nil {
			return
		}
		off += delta + 1
		l := d.target(off)
		if l == nil || l.frame != nil {
			r.failf("%s: frame at offset %d", d.m, off)
			return
		}
		if !sameSlice(f.Locals, locals) {
			total += len(f.Locals)
		}
		if total += len(f.Stack); total > maxTypes {
			r.err = &UnsupportedError{What: d.m.String() + ": stack map frames of excessive size"}
			return
		}
		l.frame = f
		locals = f.Locals
	}
}

// frame reads one frame, given the locals of the one before.
func (d *decoder) frame(r *reader, locals []VerificationType) (f *Frame, delta int) {
	f = d.work.frames.one()
	f.Locals = locals
	switch t := int(r.u1()); {
	case t < 64:
		return f, t
	case t < 128:
		f.Stack = d.types(r, 1, d.c.MaxStack)
		return f, t - 64
	case t < 247:
		r.failf("%s: frame of the reserved type %d", d.m, t)
	case t == 247:
		delta = int(r.u2())
		f.Stack = d.types(r, 1, d.c.MaxStack)
	case t <= 250:
		delta = int(r.u2())
		keep := len(locals) - (251 - t)
		if keep < 0 {
			r.failf("%s: frame chops %d of %d locals", d.m, 251-t, len(locals))
			return f, 0
		}
		f.Locals = locals[:keep:keep]
	case t == 251:
		delta = int(r.u2())
	case t < 255:
		delta = int(r.u2())
		more := d.types(r, t-251, d.c.MaxLocals)
		f.Locals = append(append(d.work.types.take(len(locals) + len(more))[:0], locals...), more...)
		if slotsOf(f.Locals) > d.c.MaxLocals {
			r.failf("%s: frame with %d of %d locals", d.m, slotsOf(f.Locals), d.c.MaxLocals)
		}
	default:
		delta = int(r.u2())
		f.Locals = d.types(r, int(r.u2()), d.c.MaxLocals)
		f.Stack = d.types(r, int(r.u2()), d.c.MaxStack)
	}
	return f, delta
}

// types reads n verification types that must fit a number of slots.
func (d *decoder) types(r *reader, n, slots int) []VerificationType {
	if n > r.left() || n > slots {
		r.failf("%s: frame with %d types in %d bytes and %d slots", d.m, n, r.left(), slots)
		return nil
	}
	list := d.work.types.take(n)[:0]
	for range n {
		v := VerificationType{Tag: TypeTag(r.u1())}
		switch {
		case v.Tag == TypeObject:
			name, err := d.pool.ClassName(r.u2())
			if r.err == nil && err != nil {
				r.fail(err.Error())
			}
			v.ClassName = name
		case v.Tag == TypeUninitialized:
			off := int(r.u2())
			if r.err == nil && (off >= len(d.code) || Opcode(d.code[off]) != OpNew) {
				r.failf("%s: uninitialized object of offset %d, where no new is", d.m, off)
				return nil
			}
			if v.NewInsn = d.pin(off); v.NewInsn == nil && r.err == nil {
				r.failf("%s: uninitialized object of offset %d", d.m, off)
			}
		case v.Tag > TypeUninitialized:
			r.failf("%s: verification type %d", d.m, v.Tag)
		}
		if r.err != nil {
			return nil
		}
		list = append(list, v)
	}
	if s := slotsOf(list); s > slots {
		r.failf("%s: frame needs %d slots of %d", d.m, s, slots)
	}
	return list
}

// appendAll is append without a copy to an empty list: a table is rarely in more than one attribute.
func appendAll(to, more []LocalVariable) []LocalVariable {
	if to == nil {
		return more
	}
	return append(to, more...)
}

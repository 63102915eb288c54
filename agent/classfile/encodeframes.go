package classfile

// stackMap writes the frames of a class that has them, each in the shortest
// form that the locals of the one before allow.
func (e *encoder) stackMap(w *writer) (n int, err error) {
	if !e.c.HasFrames() {
		return 0, nil
	}
	locals := e.c.InitialFrame().Locals
	last := -1
	var before *Frame
	for _, in := range e.insns {
		if in.Op != OpLabel || in.Label.frame == nil {
			continue
		}
		f, off := in.Label.frame, int(in.off)
		if off >= e.size {
			return 0, e.errorf("a frame after the last instruction")
		}
		if off == last && before != nil {
			if !sameTypes(f.Locals, before.Locals) || !sameTypes(f.Stack, before.Stack) {
				return 0, e.errorf("two different frames at offset %d", off)
			}
			continue
		}
		if err := e.frame(w, f, locals, off-last-1); err != nil {
			return 0, err
		}
		n++
		before, last, locals = f, off, f.Locals
	}
	return n, nil
}

// frame writes one frame; locals are those of the frame before.
func (e *encoder) frame(w *writer, f *Frame, locals []VerificationType, delta int) error {
	diff := len(f.Locals) - len(locals)
	common := min(len(f.Locals), len(locals))
	prefix := diff >= -3 && diff <= 3 && sameTypes(f.Locals[:common], locals[:common])
	switch {
	case prefix && diff == 0 && len(f.Stack) <= 1:
		small, large := delta, 251
		if len(f.Stack) == 1 {
			small, large = 64+delta, 247
		}
		if delta < 64 {
			w.u1(byte(small))
		} else {
			w.u1(byte(large))
			w.u2(uint16(delta))
		}
		return e.types(w, f.Stack)
	case prefix && len(f.Stack) == 0:
		w.u1(byte(251 + diff))
		w.u2(uint16(delta))
		return e.types(w, f.Locals[common:])
	}
	w.u1(255)
	w.u2(uint16(delta))
	for _, list := range [][]VerificationType{f.Locals, f.Stack} {
		if len(list) > 65535 {
			return e.tooLarge("frame", len(list))
		}
		w.u2(uint16(len(list)))
		if err := e.types(w, list); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) types(w *writer, list []VerificationType) error {
	for _, t := range list {
		w.u1(byte(t.Tag))
		switch t.Tag {
		case TypeObject:
			i, err := e.class(t.ClassName)
			if err != nil {
				return err
			}
			w.u2(i)
		case TypeUninitialized:
			if !e.inside(t.NewInsn) {
				return e.errorf("a frame with an uninitialized object whose label is not in the code")
			}
			w.u2(uint16(t.NewInsn.off))
		}
	}
	return nil
}

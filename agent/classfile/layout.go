package classfile

import "slices"

// layout sets the offset of every instruction and label. Jumps start out short;
// those that turn out too far are widened, and all offsets are computed again until
// nothing changes. Nothing ever becomes shorter, so this ends.
func (e *encoder) layout() error {
	limit := e.c.method.class.jumpLimit
	if limit == 0 {
		limit = 32767
	}
	for {
		if err := e.place(); err != nil {
			return err
		}
		if e.size > maxCode {
			return e.tooLarge("code", e.size)
		}
		far, grown, err := e.farJumps(limit)
		if err != nil {
			return err
		}
		if len(far) > 0 {
			if err := e.invert(far); err != nil {
				return err
			}
			grown = true
		}
		if !grown {
			break
		}
	}
	if e.size == 0 {
		return e.errorf("no instructions")
	}
	return nil
}

// place computes offsets for the instructions as they are.
func (e *encoder) place() error {
	e.c.pass++
	off := 0
	for _, in := range e.insns {
		in.off = int32(off)
		if in.Op == OpLabel {
			if in.Label.pass == e.c.pass {
				return e.errorf("a label is in the code twice")
			}
			in.Label.pass, in.Label.off = e.c.pass, int32(off)
			continue
		}
		if off += e.length(in, off); off > 1<<30 {
			return e.tooLarge("code", off)
		}
	}
	e.size = off
	return nil
}

// placed reports whether a label is in the code.
func (e *encoder) placed(l *Label) bool { return l != nil && l.pass == e.c.pass }

// inside reports whether a label is in the code, before an instruction.
func (e *encoder) inside(l *Label) bool { return e.placed(l) && int(l.off) < e.size }

func (e *encoder) outside(l *Label) bool { return !e.inside(l) }

// farJumps marks the gotos that must become wide and returns the conditional
// jumps that do not reach their target.
func (e *encoder) farJumps(limit int) (far []*Insn, grown bool, err error) {
	for _, in := range e.insns {
		switch {
		case in.Op.IsSwitch():
			if !e.inside(in.Switch.Default) || slices.ContainsFunc(in.Switch.Targets, e.outside) {
				return nil, false, e.errorf("%s to a label that is before no instruction", in)
			}
		case in.Op.IsJump():
			if !e.inside(in.Target) {
				return nil, false, e.errorf("%s to a label that is before no instruction", in)
			}
			by := int(in.Target.off - in.off)
			if by >= -limit && by <= limit || e.wide[in] {
				continue
			}
			if in.Op != OpGoto {
				far = append(far, in)
				continue
			}
			e.widen(in)
			grown = true
		}
	}
	return far, grown, nil
}

func (e *encoder) widen(jump *Insn) {
	if e.wide == nil {
		e.wide = make(map[*Insn]bool)
	}
	e.wide[jump] = true
}

// invert replaces conditional jumps by the opposite jump over a wide goto:
//
//	if_x far    becomes    if_not_x next; goto_w far; next:
//
// In a class with frames, next needs one.
func (e *encoder) invert(far []*Insn) error {
	frames := map[*Insn]*Frame{}
	if e.needFrames() {
		var err error
		if frames, err = e.framesAfter(far); err != nil {
			return err
		}
	}
	out := make([]*Insn, 0, len(e.insns)+2*len(far))
	for i, in := range e.insns {
		if len(far) == 0 || in != far[0] {
			out = append(out, in)
			continue
		}
		far = far[1:]
		next := newLabel()
		if !e.frameFollows(i) {
			next.frame = frames[in]
		}
		jump := NewJump(OpGoto, in.Target)
		e.widen(jump)
		out = append(out, NewJump(opposite(in.Op), next), jump, &next.node)
	}
	e.insns = out
	return nil
}

// opposite returns the conditional jump for the negated condition.
func opposite(op Opcode) Opcode {
	if op >= OpIfnull {
		return op ^ 1
	}
	return (op - OpIfeq) ^ 1 + OpIfeq
}

// needFrames reports whether this method is verified by frames: always from
// version 51, and in version 50 if it was read with frames.
func (e *encoder) needFrames() bool {
	if e.c.method.class.Major != 50 {
		return e.c.HasFrames()
	}
	return slices.ContainsFunc(e.insns, func(in *Insn) bool {
		return in.Op == OpLabel && in.Label.frame != nil
	})
}

// frameFollows reports whether there is a frame right after instruction i.
func (e *encoder) frameFollows(i int) bool {
	for i++; i < len(e.insns) && e.insns[i].Op == OpLabel; i++ {
		if e.insns[i].Label.frame != nil {
			return true
		}
	}
	return false
}

// framesAfter derives the frames right after some instructions from the last
// frame before each.
func (e *encoder) framesAfter(wanted []*Insn) (map[*Insn]*Frame, error) {
	e.pinNews()
	out := make(map[*Insn]*Frame, len(wanted))
	s := newTypeState(e.c)
	known := true
	for i, in := range e.insns {
		if in.Op == OpLabel {
			if in.Label.frame != nil {
				s.set(in.Label.frame)
				known = true
			}
			continue
		}
		if !known {
			if len(wanted) > 0 && in == wanted[0] {
				return nil, e.unsupported("a far jump in code that no frame describes")
			}
			continue
		}
		var here *Label
		if in.Op == OpNew {
			here = e.insns[i-1].Label
		}
		if err := s.step(in, here); err != nil {
			return nil, err
		}
		if len(wanted) > 0 && in == wanted[0] {
			out[in] = s.frame()
			wanted = wanted[1:]
		}
		known = !in.Op.Ends()
	}
	return out, nil
}

func (e *encoder) unsupported(what string) error {
	return &UnsupportedError{What: e.c.method.String() + ": " + what}
}

// pinNews makes sure that a label stands right before every new, for types
// that name it.
func (e *encoder) pinNews() {
	out := make([]*Insn, 0, len(e.insns))
	for i, in := range e.insns {
		if in.Op == OpNew && (i == 0 || e.insns[i-1].Op != OpLabel) {
			l := newLabel()
			l.pinned, l.pass, l.off = true, e.c.pass, in.off
			out = append(out, &l.node)
		}
		out = append(out, in)
	}
	e.insns = out
}

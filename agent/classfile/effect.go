package classfile

// StackEffect returns the slots that in pops from the operand stack, and those it
// then pushes.
func StackEffect(p *Pool, in *Insn) (pop, push int, err error) {
	if in.Op == OpLabel {
		return 0, 0, nil
	}
	if in.Op == OpPushInt {
		return 0, 1, nil
	}
	effect := ""
	if in.Op < 256 {
		effect = ops[in.Op].effect
	}
	switch effect {
	case "":
		return 0, 0, &EditError{Where: in.Op.String(), What: "not an operation of decoded code"}
	case "*":
		return poolEffect(p, in)
	}
	n := &pop
	for i := range len(effect) {
		switch effect[i] {
		case '>':
			n = &push
		case 'J', 'D':
			*n += 2
		default:
			*n++
		}
	}
	return pop, push, nil
}

// poolEffect is StackEffect for operations whose effect the pool decides.
func poolEffect(p *Pool, in *Insn) (pop, push int, err error) {
	switch in.Op {
	case OpLdc:
		return 0, 1, nil
	case OpLdc2W:
		return 0, 2, nil
	case OpMultianewarray:
		return int(in.Const), 1, nil
	}
	_, desc, err := p.NameAndType(in.Index)
	if err != nil {
		return 0, 0, err
	}
	if in.Op.IsInvoke() {
		args, result, ok := methodSlots(desc)
		if !ok {
			return 0, 0, &EditError{Where: in.String(), What: "bad method descriptor " + desc}
		}
		if in.Op != OpInvokestatic && in.Op != OpInvokedynamic {
			args++
		}
		return args, result, nil
	}
	size, n := fieldType(desc)
	if n == 0 || n != len(desc) {
		return 0, 0, &EditError{Where: in.String(), What: "bad field descriptor " + desc}
	}
	switch in.Op {
	case OpGetstatic:
		return 0, size, nil
	case OpPutstatic:
		return size, 0, nil
	case OpGetfield:
		return 1, size, nil
	}
	return 1 + size, 0, nil // putfield
}

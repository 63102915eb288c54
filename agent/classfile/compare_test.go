package classfile

import (
	"bytes"
	"fmt"
	"slices"
)

// ordinals sets every label to the number of instructions before it as its
// offset, by which the codes of two parses can be compared, and returns the
// instructions and the frames by that number.
func ordinals(c *Code) (insns []*Insn, frames map[int32]*Frame) {
	c.pass++
	frames = map[int32]*Frame{}
	for _, in := range c.Insns {
		if in.Op != OpLabel {
			insns = append(insns, in)
			continue
		}
		in.Label.pass = 1 << 30
		in.Label.off = int32(len(insns))
		if in.Label.frame != nil {
			frames[in.Label.off] = in.Label.frame
		}
	}
	return insns, frames
}

func sameLabel(a, b *Label) bool {
	return (a == nil) == (b == nil) && (a == nil || a.off == b.off)
}

// difference says in what two codes differ in meaning, or "".
func difference(a, b *Code) string {
	if a.MaxStack != b.MaxStack || a.MaxLocals != b.MaxLocals {
		return "max_stack or max_locals"
	}
	ai, af := ordinals(a)
	bi, bf := ordinals(b)
	if len(ai) != len(bi) {
		return fmt.Sprintf("%d and %d instructions", len(ai), len(bi))
	}
	for i := range ai {
		if !sameInsn(ai[i], bi[i]) {
			return fmt.Sprintf("instruction %d: %v and %v", i, ai[i], bi[i])
		}
	}
	if len(af) != len(bf) {
		return fmt.Sprintf("%d and %d frames", len(af), len(bf))
	}
	for at, f := range af {
		g := bf[at]
		if g == nil || !sameTypes(f.Locals, g.Locals) || !sameTypes(f.Stack, g.Stack) {
			return fmt.Sprintf("frame at instruction %d: %v and %v", at, f, g)
		}
	}
	return tableDifference(a, b)
}

func tableDifference(a, b *Code) string {
	sameHandler := func(x, y *Handler) bool {
		return sameLabel(x.Start, y.Start) && sameLabel(x.End, y.End) &&
			sameLabel(x.Target, y.Target) && x.CatchType == y.CatchType
	}
	sameVariable := func(x, y LocalVariable) bool {
		return sameLabel(x.Start, y.Start) && sameLabel(x.End, y.End) &&
			x.Name == y.Name && x.Descriptor == y.Descriptor && x.Slot == y.Slot
	}
	sameAttribute := func(x, y *Attribute) bool { return x.Name == y.Name && bytes.Equal(x.Data, y.Data) }
	switch {
	case !slices.EqualFunc(a.Handlers, b.Handlers, sameHandler):
		return "exception handlers"
	case !slices.EqualFunc(a.Lines, b.Lines, func(x, y LineNumber) bool {
		return sameLabel(x.At, y.At) && x.Line == y.Line
	}):
		return "line numbers"
	case !slices.EqualFunc(a.Variables, b.Variables, sameVariable):
		return "local variables"
	case !slices.EqualFunc(a.VariableTypes, b.VariableTypes, sameVariable):
		return "types of local variables"
	case !slices.EqualFunc(a.Attributes, b.Attributes, sameAttribute):
		return "other attributes"
	case !sameTypeAnnotations(a, b, true) || !sameTypeAnnotations(a, b, false):
		return "type annotations"
	}
	return ""
}

// sameTypeAnnotations compares the visible or the invisible ones; the two may
// be in either order.
func sameTypeAnnotations(a, b *Code, visible bool) bool {
	pick := func(c *Code) (list []*TypeAnnotation) {
		for i := range c.TypeAnnotations {
			if c.TypeAnnotations[i].Visible == visible {
				list = append(list, &c.TypeAnnotations[i])
			}
		}
		return list
	}
	return slices.EqualFunc(pick(a), pick(b), func(x, y *TypeAnnotation) bool {
		return x.TargetType == y.TargetType && sameLabel(x.At, y.At) && x.TypeIndex == y.TypeIndex &&
			slices.Index(a.Handlers, x.Handler) == slices.Index(b.Handlers, y.Handler) &&
			bytes.Equal(x.rest, y.rest) && x.unresolved == y.unresolved &&
			slices.EqualFunc(x.Variables, y.Variables, func(v, w VariableRange) bool {
				return sameLabel(v.Start, w.Start) && sameLabel(v.End, w.End) && v.Slot == w.Slot
			})
	})
}

func sameInsn(x, y *Insn) bool {
	if x.Op != y.Op || x.Index != y.Index || x.Local != y.Local || x.Const != y.Const ||
		!sameLabel(x.Target, y.Target) || (x.Switch == nil) != (y.Switch == nil) {
		return false
	}
	s, t := x.Switch, y.Switch
	return s == nil || sameLabel(s.Default, t.Default) && s.Low == t.Low &&
		slices.Equal(s.Keys, t.Keys) && slices.EqualFunc(s.Targets, t.Targets, sameLabel)
}

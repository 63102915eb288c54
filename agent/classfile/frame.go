package classfile

import "slices"

// TypeTag is the kind of a VerificationType (JVMS 4.7.4).
type TypeTag uint8

// The tags of verification types, with the numbers of the file format.
const (
	TypeTop               TypeTag = 0
	TypeInteger           TypeTag = 1
	TypeFloat             TypeTag = 2
	TypeDouble            TypeTag = 3
	TypeLong              TypeTag = 4
	TypeNull              TypeTag = 5
	TypeUninitializedThis TypeTag = 6
	TypeObject            TypeTag = 7
	TypeUninitialized     TypeTag = 8
)

// VerificationType is the type of a local or of a stack entry.
type VerificationType struct {
	Tag       TypeTag
	ClassName string // TypeObject: internal name, or descriptor of an array
	NewInsn   *Label // TypeUninitialized: right before the instruction `new`
}

// ObjectType is the type of references to a class (internal name) or array
// (descriptor).
func ObjectType(class string) VerificationType {
	return VerificationType{Tag: TypeObject, ClassName: class}
}

// Slots is the number of slots the type takes: 2 for long and double.
func (t VerificationType) Slots() int {
	if t.Tag == TypeLong || t.Tag == TypeDouble {
		return 2
	}
	return 1
}

// Frame is a stack map frame with absolute types. As in the file format, a long
// or double is one entry that takes two slots.
type Frame struct {
	Locals []VerificationType
	Stack  []VerificationType
}

func slotsOf(types []VerificationType) int {
	n := len(types)
	for _, t := range types {
		if t.Tag == TypeLong || t.Tag == TypeDouble {
			n++
		}
	}
	return n
}

// maxTypes bounds the verification types held for one method; real ones stay
// far below.
const maxTypes = 4 << 20

// InitialFrame is the implicit frame at the start of the method; empty for code
// that was not added to a class yet.
func (c *Code) InitialFrame() Frame {
	m := c.method
	var f Frame
	if m == nil {
		return f
	}
	f.Locals = c.memory().types.take(1 + countArguments(m.Descriptor))[:0]
	if m.Access&AccStatic == 0 {
		this := ObjectType(m.class.Name)
		if m.Name == "<init>" && m.class.Name != "java/lang/Object" {
			this = VerificationType{Tag: TypeUninitializedThis}
		}
		f.Locals = append(f.Locals, this)
	}
	f.Locals, _ = argumentTypes(f.Locals, m.Descriptor)
	return f
}

// HasFrames reports whether the class is of a version with stack map frames (50
// and later). In older classes frames are not written.
func (c *Code) HasFrames() bool { return c.method != nil && c.method.class.Major >= 50 }

// Frame returns the frame at the position of l, given at l or at a label with
// no instruction between them; nil if there is none.
func (c *Code) Frame(l *Label) *Frame {
	if l.frame != nil {
		return l.frame
	}
	at := c.find(&l.node)
	if at < 0 {
		return nil
	}
	for i := at + 1; i < len(c.Insns) && c.Insns[i].Op == OpLabel; i++ {
		if f := c.Insns[i].Label.frame; f != nil {
			return f
		}
	}
	for i := at - 1; i >= 0 && c.Insns[i].Op == OpLabel; i-- {
		if f := c.Insns[i].Label.frame; f != nil {
			return f
		}
	}
	return nil
}

// SetFrame sets the frame at a label; the types are absolute. Two different
// frames at one position are an error when writing.
func (c *Code) SetFrame(at *Label, locals, stack []VerificationType) {
	at.frame = &Frame{Locals: locals, Stack: stack}
	c.edited = true
}

// AddIntLocal adds an int local at slot MaxLocals, which it returns. Every
// frame that exists has it as Integer afterwards, so the caller must store to
// it at the start of the method. Frames set later must name it themselves.
func (c *Code) AddIntLocal() int { return c.addLocal(VerificationType{Tag: TypeInteger}) }

// AddLongLocal adds a long local, which takes two slots from the one that it
// returns on; otherwise it is AddIntLocal.
func (c *Code) AddLongLocal() int { return c.addLocal(VerificationType{Tag: TypeLong}) }

// AddObjectLocal adds a local for references of a class; otherwise it is AddIntLocal.
func (c *Code) AddObjectLocal(class string) int { return c.addLocal(ObjectType(class)) }

func (c *Code) addLocal(t VerificationType) int {
	slot := c.MaxLocals
	c.MaxLocals += t.Slots()
	c.edited = true
	total, work := 0, c.memory()
	// Consecutive frames often share their locals, and keep sharing them.
	var before, after []VerificationType
	for _, in := range c.Insns {
		if in.Op != OpLabel || in.Label.frame == nil {
			continue
		}
		f := in.Label.frame
		if after == nil || !sameSlice(f.Locals, before) {
			before = f.Locals
			after = withLocal(work, before, slot, t)
			if total += len(after); total > maxTypes {
				c.fail(&TooLargeError{Method: c.where(), What: "stack map frames", Size: total})
				return slot
			}
		}
		changed := work.frames.one()
		changed.Locals, changed.Stack = after, f.Stack
		in.Label.frame = changed
	}
	return slot
}

// WithLocal returns the locals of a frame with one more at slot, which none of
// them reaches yet; those between are padded with Top.
func WithLocal(locals []VerificationType, slot int, t VerificationType) []VerificationType {
	return withLocal(new(Workspace), locals, slot, t)
}

func withLocal(work *Workspace, locals []VerificationType, slot int, t VerificationType) []VerificationType {
	pad := slot - slotsOf(locals)
	out := append(work.types.take(len(locals) + max(pad, 0) + 1)[:0], locals...)
	for ; pad > 0; pad-- {
		out = append(out, VerificationType{})
	}
	return append(out, t)
}

func sameSlice(a, b []VerificationType) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// sameTypes compares types; labels count as equal if they have the same offset
// in the current layout.
func sameTypes(a, b []VerificationType) bool {
	return sameSlice(a, b) || slices.EqualFunc(a, b, sameType)
}

func sameType(x, y VerificationType) bool {
	if x.Tag != y.Tag {
		return false
	}
	switch x.Tag {
	case TypeObject:
		return x.ClassName == y.ClassName
	case TypeUninitialized:
		return x.NewInsn == y.NewInsn || x.NewInsn != nil && y.NewInsn != nil &&
			x.NewInsn.pass == y.NewInsn.pass && x.NewInsn.off == y.NewInsn.off
	}
	return true
}

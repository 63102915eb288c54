package classfile

import (
	"fmt"
	"slices"
)

// Code is the body of a method. All positions are labels, so instructions may
// be inserted and removed freely. Changes made through the methods count as
// edits; after changing fields directly, call Edited.
type Code struct {
	MaxStack  int // slots
	MaxLocals int // slots
	Insns     []*Insn
	Handlers  []*Handler // innermost first, as the JVM searches them

	Lines           []LineNumber
	Variables       []LocalVariable // LocalVariableTable
	VariableTypes   []LocalVariable // LocalVariableTypeTable; Descriptor is a signature
	TypeAnnotations []TypeAnnotation
	Attributes      []*Attribute // those not decoded, kept as they are

	method *Member
	edited bool
	err    error // the first misuse, returned by Write
	marks  []int // of Class.marks, relative to the attribute; as of the last encode
	pass   int32 // number of the current layout; see Label.pass
}

// Handler is an entry of the exception table.
type Handler struct {
	Start, End *Label // the instructions covered: from Start, before End
	Target     *Label
	CatchType  string // internal name; "" catches everything
}

// LineNumber says that the instructions from At on belong to a source line.
type LineNumber struct {
	At   *Label
	Line uint16
}

// LocalVariable names the variable that a slot holds between two labels.
type LocalVariable struct {
	Start, End *Label
	Name       string
	Descriptor string
	Slot       uint16
}

// NewCode makes an empty body for Class.AddMethod.
func NewCode(maxStack, maxLocals int) *Code {
	return &Code{MaxStack: maxStack, MaxLocals: maxLocals, edited: true}
}

// Code decodes the body of a method; nil without error if it has none. Later
// calls return the same Code. Errors are *FormatError, or *UnsupportedError for
// jsr, ret and the class files before 45.3.
func (m *Member) Code() (*Code, error) {
	if m.code != nil || !m.isMethod {
		return m.code, nil
	}
	a := m.Attribute("Code")
	if a == nil {
		return nil, nil
	}
	code, err := decodeCode(m, a)
	if err != nil {
		return nil, err
	}
	m.code = code
	return code, nil
}

// Edited makes Write encode the code anew instead of copying it.
func (c *Code) Edited() { c.edited = true }

// Method returns the method that c is the body of; nil for a NewCode that was
// not added yet.
func (c *Code) Method() *Member { return c.method }

func (c *Code) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// memory is the workspace of the code.
func (c *Code) memory() *Workspace {
	if c.method == nil || c.method.class.work == nil {
		return new(Workspace) // of code that is being made
	}
	return c.method.class.work
}

// where names the method in messages.
func (c *Code) where() string {
	if c.method == nil {
		return "a method"
	}
	return c.method.String()
}

func (c *Code) misuse(format string, args ...any) {
	c.fail(&EditError{Where: c.where(), What: fmt.Sprintf(format, args...)})
}

// find returns the index of in within Insns, or -1.
func (c *Code) find(in *Insn) int {
	if in == nil {
		return -1
	}
	if p := int(in.pos); p < len(c.Insns) && c.Insns[p] == in {
		return p
	}
	found := -1
	for i, x := range c.Insns {
		if x == nil {
			continue // Write reports it
		}
		x.pos = int32(i)
		if x == in {
			found = i
		}
	}
	return found
}

func (c *Code) insert(i int, insns []*Insn) {
	if slices.Contains(insns, nil) {
		c.misuse("an instruction to insert is nil")
		return
	}
	c.Insns = slices.Insert(c.Insns, i, insns...)
	for k, in := range insns {
		in.pos = int32(i + k)
	}
	c.edited = true
}

// First returns the first instruction that is no label, nil in empty code.
func (c *Code) First() *Insn {
	for _, in := range c.Insns {
		if in.Op != OpLabel {
			return in
		}
	}
	return nil
}

// InsertBefore inserts instructions before at and before the labels at its
// position: a jump to at still lands on at, and the inserted instructions run only
// when control falls through (for the first instruction: once per call). They belong
// to no exception range and no line that starts at at. If control cannot fall through
// to at, they would be dead code, which needs a frame of its own.
func (c *Code) InsertBefore(at *Insn, insns ...*Insn) {
	i := c.find(at)
	if i < 0 {
		c.misuse("InsertBefore %v, which is not in the code", at)
		return
	}
	for i > 0 && c.Insns[i-1].Op == OpLabel {
		i--
	}
	c.insert(i, insns)
}

// InsertBeforeTargeted inserts instructions between the labels at the position
// of at and at itself: jumps to at land on the inserted instructions, which share
// the line and the exception ranges of at.
func (c *Code) InsertBeforeTargeted(at *Insn, insns ...*Insn) {
	i := c.find(at)
	if i < 0 {
		c.misuse("InsertBeforeTargeted %v, which is not in the code", at)
		return
	}
	c.insert(c.beforePinned(i), insns)
}

// InsertAllBeforeTargeted is InsertBeforeTargeted for the whole code at once, in linear time. It asks what to insert
// before each instruction that is no label, in their order; more is the number of instructions to expect.
func (c *Code) InsertAllBeforeTargeted(more int, before func(in *Insn) []*Insn) {
	out := c.memory().insnRefs.take(len(c.Insns) + more)[:0]
	for _, in := range c.Insns {
		if in.Op != OpLabel {
			if insns := before(in); len(insns) > 0 {
				pinned := len(out)
				for pinned > 0 && out[pinned-1].Op == OpLabel && out[pinned-1].Label.pinned {
					pinned--
				}
				out = slices.Insert(out, pinned, insns...)
			}
		}
		out = append(out, in)
	}
	c.Insns = out
	c.edited = true
}

// Position returns the index of a label within Insns, -1 if it is not there.
func (c *Code) Position(l *Label) int { return c.find(&l.node) }

// beforePinned moves i back over labels that must stay with instruction i.
func (c *Code) beforePinned(i int) int {
	for i > 0 && c.Insns[i-1].Op == OpLabel && c.Insns[i-1].Label.pinned {
		i--
	}
	return i
}

// InsertAfter inserts instructions directly after at, before the labels that
// follow it: they run when control falls through from at.
func (c *Code) InsertAfter(at *Insn, insns ...*Insn) {
	i := c.find(at)
	if i < 0 {
		c.misuse("InsertAfter %v, which is not in the code", at)
		return
	}
	c.insert(i+1, insns)
}

// Append adds instructions at the end of the code, after the labels there. A
// range that ended with the code then ends before them.
func (c *Code) Append(insns ...*Insn) { c.insert(len(c.Insns), insns) }

// Remove takes an instruction or label out of the code.
func (c *Code) Remove(in *Insn) {
	i := c.find(in)
	if i < 0 {
		c.misuse("Remove %v, which is not in the code", in)
		return
	}
	c.Insns = slices.Delete(c.Insns, i, i+1)
	c.edited = true
}

// NewLabel makes a label that is not in the code yet; insert its Insn.
func (c *Code) NewLabel() *Label {
	return c.memory().labels.one().init()
}

// Keep copies an instruction into the memory of the class: cheaper than an allocation.
func (c *Code) Keep(in Insn) *Insn {
	to := c.memory().insns.one()
	*to = in
	return to
}

// LabelBefore inserts a new label directly before in. What InsertBeforeTargeted
// inserts before in later is after the label.
func (c *Code) LabelBefore(in *Insn) *Label {
	l := c.NewLabel()
	i := c.find(in)
	if i < 0 {
		c.misuse("LabelBefore %v, which is not in the code", in)
		return l
	}
	c.insert(c.beforePinned(i), []*Insn{&l.node})
	return l
}

// LabelAfter inserts a new label directly after in. What InsertAfter inserts after
// in later is before the label.
func (c *Code) LabelAfter(in *Insn) *Label {
	l := c.NewLabel()
	c.InsertAfter(in, &l.node)
	return l
}

// AddHandler appends an entry to the exception table, which makes it the
// outermost. catchType is an internal name; "" catches everything. In a class
// with frames the handler needs one (SetFrame).
func (c *Code) AddHandler(start, end, handler *Label, catchType string) {
	c.Handlers = append(c.Handlers, &Handler{start, end, handler, catchType})
	c.edited = true
}

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

	rest []byte // target_path and annotation, or everything if not resolved
	full bool   // rest is everything
}

// VariableRange is where an annotated local variable lives.
type VariableRange struct {
	Start, End *Label
	Slot       uint16
}

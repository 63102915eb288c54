package instrument

import (
	"encoding/binary"

	"stackagent/agent/classfile"
)

// hugeMethod is HotSpot's HugeMethodLimit: methods of more bytes are interpreted
// for ever (-XX:+DontCompileHugeMethods, the default).
const hugeMethod = 8000

// probeBytes is the most that one probe takes: wide load, call, wide store or
// athrow.
const probeBytes = 4 + 3 + 4

// codeSize is the size of a method's code in the class file; false if it was not
// read from a file.
func codeSize(m *classfile.Member) (int, bool) {
	a := m.Attribute("Code")
	if a == nil || len(a.Data) < 8 {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(a.Data[4:])), true
}

// compilable refuses a method that the JIT compiles now and would no longer
// compile with the probes in it. The bytes added are an upper bound.
func (p *Plan) compilable(code *classfile.Code) error {
	m := code.Method()
	size, ok := codeSize(m)
	if !ok || size > hugeMethod || size < hugeMethod/2 {
		return nil
	}
	added := 3 * probeBytes // at its start, and two in its handler
	for _, in := range code.Insns {
		if in.Op.IsReturn() || m.Name == "<init>" && in.Op == classfile.OpInvokespecial {
			added += probeBytes
			if m.Name == "<init>" && p.measuresConstruction() {
				added += probeBytes
			}
		}
	}
	if size+added > hugeMethod {
		return refuse(p.Class, ReasonJIT, "%s has %d bytes, with probes up to %d; the limit is %d",
			signature(code), size, size+added, hugeMethod)
	}
	return nil
}

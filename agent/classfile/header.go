package classfile

import "slices"

// Header is the part of a class file that says where it belongs in the class hierarchy.
type Header struct {
	Minor, Major uint16
	Access       uint16
	Name         string   // internal name
	Super        string   // internal name; "" for java/lang/Object and module-info
	Interfaces   []string // internal names, in the order of the file
}

const magic = 0xCAFEBABE

// ParseHeader reads only the header, and checks only that. It accepts any version, so
// that a hierarchy can include newer class files.
func ParseHeader(b []byte) (Header, error) { return parseHeader(new(Workspace), b) }

// ParseHeader is the function ParseHeader in the memory of w.
func (w *Workspace) ParseHeader(b []byte) (Header, error) { return parseHeader(w, b) }

func parseHeader(w *Workspace, b []byte) (Header, error) {
	r := &reader{b: b}
	var h Header
	if r.u4() != magic {
		r.off = 0
		r.fail("no magic number 0xCAFEBABE")
	}
	h.Minor, h.Major = r.u2(), r.u2()
	p := scanPool(r, w)
	if r.err != nil {
		return Header{}, r.err
	}
	h.Access = r.u2()
	h.Name = p.headerName(r, r.u2())
	if super := r.u2(); super != 0 {
		h.Super = p.headerName(r, super)
	}
	n := int(r.u2())
	if 2*n > r.left() {
		r.failf("%d interfaces in %d bytes", n, r.left())
	}
	if r.err != nil {
		return Header{}, r.err
	}
	h.Interfaces = slices.Grow(h.Interfaces, n)
	for range n {
		h.Interfaces = append(h.Interfaces, p.headerName(r, r.u2()))
	}
	if r.err != nil {
		return Header{}, r.err
	}
	return h, nil
}

// headerName resolves a class entry of a pool whose references were not checked.
func (p *Pool) headerName(r *reader, i uint16) string {
	if r.err != nil {
		return ""
	}
	if p.Tag(i) != TagClass || p.Tag(p.at2(i, 1)) != TagUtf8 {
		r.failf("entry %d is no class", i)
		return ""
	}
	return p.utf8(p.at2(i, 1))
}

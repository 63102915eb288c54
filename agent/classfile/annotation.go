package classfile

// HasAnnotation reports whether a method or field has an annotation that is
// visible at run time, by the descriptor of its type. Errors are *FormatError.
func (m *Member) HasAnnotation(descriptor string) (bool, error) {
	a := m.Attribute("RuntimeVisibleAnnotations")
	if a == nil {
		return false, nil
	}
	r := &reader{b: a.Data, base: a.offset}
	found := false
	for n := r.u2(); n > 0 && r.err == nil; n-- {
		at := *r
		found = m.class.utf8(&at).name == descriptor || found
		skipAnnotation(r, 0)
	}
	return found && r.err == nil, r.err
}

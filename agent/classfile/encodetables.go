package classfile

import "math"

// handlers writes the exception table. Ranges that have become empty, which the
// JVM would refuse, are left out.
func (e *encoder) handlers() error {
	list, err := e.liveHandlers()
	if err != nil {
		return err
	}
	e.w.u2(uint16(len(list)))
	for _, h := range list {
		class := uint16(0)
		if h.CatchType != "" {
			if class, err = e.class(h.CatchType); err != nil {
				return err
			}
		}
		e.w.u2(uint16(h.Start.off))
		e.w.u2(uint16(h.End.off))
		e.w.u2(uint16(h.Target.off))
		e.w.u2(class)
	}
	return nil
}

func (e *encoder) liveHandlers() ([]*Handler, error) {
	list := e.c.memory().handlerRefs.take(len(e.c.Handlers))[:0]
	for _, h := range e.c.Handlers {
		if !e.placed(h.Start) || !e.placed(h.End) || !e.inside(h.Target) {
			return nil, e.errorf("an exception handler with a label that is not in the code")
		}
		if h.Start.off < h.End.off {
			list = append(list, h)
		}
	}
	if len(list) > math.MaxUint16 {
		return nil, e.tooLarge("exception table", len(list))
	}
	return list, nil
}

// class returns the pool index of a class name.
func (e *encoder) class(name string) (uint16, error) { return e.pool.AddClass(name) }

// attributes writes the attributes of the code, those without content left out.
func (e *encoder) attributes() error {
	count := len(e.w.b)
	e.w.u2(0)
	written := 0
	for i := range tables {
		ok, err := e.table(&tables[i])
		if err != nil {
			return err
		}
		if ok {
			written++
		}
	}
	for _, a := range e.c.Attributes {
		if err := e.c.method.class.writeUtf8(&e.w, a.Name, a.name); err != nil {
			return err
		}
		e.w.u4(uint32(len(a.Data)))
		e.w.raw(a.Data)
		written++
	}
	if written > math.MaxUint16 {
		return e.tooLarge("attributes", written)
	}
	e.w.set2(count, written)
	return nil
}

// table is an attribute that is a counted list.
type table struct {
	name  string
	write func(*encoder, *writer) (int, error)
}

// tables are the attributes of that kind, in their order.
var tables = [...]table{
	{"LineNumberTable", (*encoder).lines},
	{"LocalVariableTable", (*encoder).localVariables},
	{"LocalVariableTypeTable", (*encoder).localVariableTypes},
	{"StackMapTable", (*encoder).stackMap},
	{"RuntimeVisibleTypeAnnotations", (*encoder).visibleTypeAnnotations},
	{"RuntimeInvisibleTypeAnnotations", (*encoder).invisibleTypeAnnotations},
}

// table writes one of tables; nothing if it is empty.
func (e *encoder) table(of *table) (bool, error) {
	start := len(e.w.b)
	e.w.raw(make([]byte, 8)) // name, length, number of entries
	n, err := of.write(e, &e.w)
	if err != nil {
		return false, err
	}
	if n == 0 {
		e.w.b = e.w.b[:start]
		return false, nil
	}
	if n > math.MaxUint16 {
		return false, e.tooLarge(of.name, n)
	}
	i, err := e.pool.AddUtf8(of.name)
	if err != nil {
		return false, err
	}
	e.w.set2(start, int(i))
	e.w.set4(start+2, len(e.w.b)-start-6)
	e.w.set2(start+6, n)
	return true, nil
}

func (e *encoder) lines(w *writer) (n int, err error) {
	for _, l := range e.c.Lines {
		if !e.placed(l.At) {
			return 0, e.errorf("line %d at a label that is not in the code", l.Line)
		}
		if !e.inside(l.At) {
			continue // what belonged to the line was removed
		}
		w.u2(uint16(l.At.off))
		w.u2(l.Line)
		n++
	}
	return n, nil
}

func (e *encoder) localVariables(w *writer) (int, error) { return e.variables(w, e.c.Variables) }

func (e *encoder) localVariableTypes(w *writer) (int, error) {
	return e.variables(w, e.c.VariableTypes)
}

func (e *encoder) variables(w *writer, list []LocalVariable) (n int, err error) {
	for _, v := range list {
		if !e.placed(v.Start) || !e.placed(v.End) {
			return 0, e.errorf("variable %s with a label that is not in the code", v.Name)
		}
		if v.End.off < v.Start.off {
			continue
		}
		name, err := e.pool.AddUtf8(v.Name)
		if err != nil {
			return 0, err
		}
		desc, err := e.pool.AddUtf8(v.Descriptor)
		if err != nil {
			return 0, err
		}
		w.u2(uint16(v.Start.off))
		w.u2(uint16(v.End.off - v.Start.off))
		w.u2(name)
		w.u2(desc)
		w.u2(v.Slot)
		n++
	}
	return n, nil
}

func (e *encoder) visibleTypeAnnotations(w *writer) (int, error) { return e.typeAnnotations(w, true) }

func (e *encoder) invisibleTypeAnnotations(w *writer) (int, error) {
	return e.typeAnnotations(w, false)
}

func (e *encoder) typeAnnotations(w *writer, visible bool) (n int, err error) {
	if len(e.c.TypeAnnotations) == 0 {
		return 0, nil
	}
	live, err := e.liveHandlers()
	if err != nil {
		return 0, err
	}
	for i := range e.c.TypeAnnotations {
		a := &e.c.TypeAnnotations[i]
		if a.Visible != visible {
			continue
		}
		ok, err := e.typeAnnotation(w, a, live)
		if err != nil {
			return 0, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}

// typeAnnotation writes one type annotation; false if its handler is gone.
func (e *encoder) typeAnnotation(w *writer, a *TypeAnnotation, live []*Handler) (bool, error) {
	if a.unresolved {
		w.raw(a.rest)
		return true, nil
	}
	switch {
	case a.TargetType == 0x42:
		at := -1
		for i, h := range live {
			if h == a.Handler {
				at = i
			}
		}
		if at < 0 {
			return false, nil
		}
		w.u1(a.TargetType)
		w.u2(uint16(at))
	case a.TargetType >= 0x43:
		if !e.placed(a.At) {
			return false, e.errorf("a type annotation at a label that is not in the code")
		}
		w.u1(a.TargetType)
		w.u2(uint16(a.At.off))
		if a.TargetType >= 0x47 {
			w.u1(a.TypeIndex)
		}
	default:
		w.u1(a.TargetType)
		w.u2(uint16(len(a.Variables)))
		for _, v := range a.Variables {
			if !e.placed(v.Start) || !e.placed(v.End) {
				return false, e.errorf("a type annotation at a label that is not in the code")
			}
			w.u2(uint16(v.Start.off))
			w.u2(uint16(max(v.End.off-v.Start.off, 0)))
			w.u2(v.Slot)
		}
	}
	w.raw(a.rest)
	return true, nil
}

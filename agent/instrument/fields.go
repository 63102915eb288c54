package instrument

import (
	"slices"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// The names of the fields that hold ids, all of type J.
const (
	FieldTaskID  = "stackagent$id"    // in the topmost task class of a hierarchy, but for java.lang.Thread
	FieldClassID = "stackagent$class" // in java.lang.ClassValue$ClassValueMap, which each class may have one of

	FieldSubmitted  = "stackagent$submitted" // wherever FieldTaskID is
	FieldExecutorID = "stackagent$executor"  // in the topmost executor class of a hierarchy
	FieldBytecodes  = "stackagent$bytecodes" // in java.lang.Thread, if it counts and the agent sees it before it is loaded

	FieldExecutorClass = "stackagent$executors" // wherever FieldClassID is
)

// fieldAccess is private transient synthetic: no subclass sees the field, no
// serialisation writes it, no tool shows it.
const fieldAccess = classfile.AccPrivate | classfile.AccTransient | classfile.AccSynthetic

// planFields lists the fields to add. A field that is there already stays: the
// bytes of a retransformation may be the JVM's own copy of the class.
func (p *Plan) planFields() error {
	want := p.in.Fields
	if !p.in.Loaded {
		want = p.newFields()
	}
	for _, name := range want {
		there, err := p.hasField(name)
		if err != nil {
			return err
		}
		if !there {
			p.AddFields = append(p.AddFields, name)
		}
	}
	return nil
}

// newFields are the fields of a class that is being loaded.
func (p *Plan) newFields() []string {
	var want []string
	if !p.filtered && p.topmost() && p.Class != nameThread {
		want = append(want, FieldTaskID)
	}
	if p.Class == nameClassValues {
		want = append(want, FieldClassID)
	}
	if p.options.Count && p.Class == nameThread {
		want = append(want, FieldBytecodes)
	}
	if p.options.Asked.Submissions {
		want = append(want, p.submissionFields(want)...)
	}
	return want
}

// submissionFields are the fields that submissions need besides those in want.
func (p *Plan) submissionFields(want []string) []string {
	var more []string
	for _, name := range want {
		switch name {
		case FieldTaskID:
			more = append(more, FieldSubmitted)
		case FieldClassID:
			more = append(more, FieldExecutorClass)
		}
	}
	if p.filtered || p.Kinds&units.KindExecutor == 0 || p.isInterface() {
		return more
	}
	if k, _ := superKinds(p.header.Super, p.in.Supers); k&units.KindExecutor == 0 {
		more = append(more, FieldExecutorID)
	}
	return more
}

func (p *Plan) hasField(name string) (bool, error) {
	for _, f := range p.class.Fields {
		if f.Name != name {
			continue
		}
		if f.Descriptor != "J" || f.Access&classfile.AccStatic != 0 {
			return false, refuse(p.Class, ReasonFieldConflict, "%s %s", f.Descriptor, f.Name)
		}
		return true, nil
	}
	return false, nil
}

// topmost reports whether the class is the one of its hierarchy that holds the
// task's id: its superclass is no task, or has no room for the id.
func (p *Plan) topmost() bool {
	if !p.isTask() || p.isInterface() {
		return false
	}
	if p.in.Loaded {
		return p.Class == nameThread || slices.Contains(p.in.Fields, FieldTaskID)
	}
	k, _ := superKinds(p.header.Super, p.in.Supers)
	return k&TaskKinds == 0 || p.in.BareSuper
}

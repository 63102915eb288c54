package instrument

import (
	"fmt"
	"strings"

	"stackagent/agent/classfile"
)

// Watch is what a probe passes on for a monitor that the user asked for.
type Watch uint8

// What there is to watch.
const (
	WatchCalls     Watch = iota // a method is called; of <init>: an object is made
	WatchReturns                // the number that a method returns
	WatchInstances              // the objects of a class and its subclasses
	WatchField                  // the same, if the class has such a field and it is not static
)

// Monitored is a class that a monitor is about.
type Monitored struct {
	Class  string // Java name
	Member string // of WatchCalls and WatchReturns: the methods; of WatchField: the field
	Watch  Watch
	Slot   int32 // the probe's argument
}

// Found says what a plan does for a monitor.
type Found struct {
	Slot int32
	Why  string // why it does nothing; "": it is woven, or needs no probe
}

// Reasons for a Found.
const (
	whyNoMethod  = "the class has no such method with code"
	whyNoField   = "the class has no such field"
	whyNoNumber  = "the method returns no number"
	whyNoCounter = "the field is neither a number nor one of java.util.concurrent.atomic"
	whyTooLarge  = "the JIT would not compile the method with a probe"
)

// monitoredFor are the monitors of a class (internal name).
func (o *Options) monitoredFor(class string) (list []Monitored) {
	for _, m := range o.Monitored {
		if len(m.Class) == len(class) && strings.ReplaceAll(m.Class, ".", "/") == class {
			list = append(list, m)
		}
	}
	return list
}

// Watches reports whether a monitor is about the class (internal name).
func (o *Options) Watches(class string) bool { return o.monitoredFor(class) != nil }

// monitors puts probes where a monitor that the user asked for needs one.
type monitors struct{}

func (monitors) wants(t target) bool {
	return t.Mode != ModeStructure && len(t.monitored) > 0 && !t.hidden
}

func (monitors) plan(p *Plan) error {
	for _, m := range p.monitored {
		why := ""
		switch m.Watch {
		case WatchCalls:
			why = p.watchCalls(m)
		case WatchReturns:
			why = p.watchReturns(m)
		case WatchInstances:
			p.watchConstructors(m, probeMadeOne)
		case WatchField:
			why = p.watchField(m)
		}
		p.Found = append(p.Found, Found{m.Slot, why})
	}
	return nil
}

// codeOf is the code of a method that a probe may be put into.
func (p *Plan) codeOf(m *classfile.Member) *classfile.Code {
	code, err := m.Code()
	if err != nil || code == nil || p.compilable(code) != nil {
		return nil
	}
	return code
}

// A compiler's bridge calls the method that is meant.
func (p *Plan) watchCalls(m Monitored) string {
	if m.Member == "<init>" {
		if !p.watchConstructors(m, probeMonitorCalled) {
			return whyNoMethod
		}
		return ""
	}
	why := whyNoMethod
	for _, method := range p.class.Methods {
		if method.Name != m.Member || method.Access&classfile.AccBridge != 0 || method.Attribute("Code") == nil {
			continue
		}
		code := p.codeOf(method)
		if code == nil {
			return whyTooLarge
		}
		p.steps = append(p.steps, &calledStep{code: code, slot: m.Slot, to: probeMonitorCalled})
		why = ""
	}
	return why
}

// watchConstructors puts a probe behind each call of super(...): of constructors that call another one of the same class, only
// the last calls it.
func (p *Plan) watchConstructors(m Monitored, to probe) (any bool) {
	for _, method := range p.class.Methods {
		if method.Name != "<init>" {
			continue
		}
		code := p.codeOf(method)
		if code == nil {
			continue
		}
		if p.Class == nameObject || p.isInterface() {
			continue
		}
		flow, err := analyseThis(p.class, code)
		if err != nil {
			continue
		}
		s := &calledStep{code: code, slot: m.Slot, to: to, object: to == probeMadeOne}
		for _, call := range flow.inits {
			if call.super {
				s.after = append(s.after, code.Insns[call.at])
			}
		}
		if len(s.after) > 0 {
			p.steps = append(p.steps, s)
			any = true
		}
	}
	return any
}

func (p *Plan) watchField(m Monitored) string {
	for _, f := range p.class.Fields {
		switch {
		case f.Name != m.Member:
		case !numeric(f.Descriptor):
			return whyNoCounter
		case !isStatic(f):
			p.watchConstructors(m, probeMadeOne)
			return ""
		default:
			return ""
		}
	}
	return whyNoField
}

// numeric reports whether the value of a field of that type is a number that can be read without the program's code.
func numeric(descriptor string) bool {
	if len(descriptor) == 1 {
		return true
	}
	name, ok := strings.CutPrefix(descriptor, "Ljava/util/concurrent/atomic/")
	return ok && (name == "AtomicInteger;" || name == "AtomicLong;" || name == "LongAdder;")
}

func (p *Plan) watchReturns(m Monitored) string {
	why := whyNoMethod
	for _, method := range p.class.Methods {
		if method.Name != m.Member || method.Access&classfile.AccBridge != 0 || method.Attribute("Code") == nil {
			continue
		}
		s := &resultStep{slot: m.Slot}
		switch result := method.Descriptor[strings.IndexByte(method.Descriptor, ')')+1:]; result {
		case "Z", "B", "S", "C", "I":
			s.to = probeReturnedInt
		case "J":
			s.to, s.wide = probeReturnedLong, true
		case "F":
			s.to = probeReturnedFloat
		case "D":
			s.to, s.wide = probeReturnedDouble, true
		default:
			if why == whyNoMethod {
				why = whyNoNumber
			}
			continue
		}
		if s.code = p.codeOf(method); s.code == nil {
			return whyTooLarge
		}
		p.steps = append(p.steps, s)
		why = ""
	}
	return why
}

// A calledStep passes the slot, and the object behind it if asked, at the start of a method or behind some calls.
type calledStep struct {
	code   *classfile.Code
	slot   int32
	to     probe
	object bool
	after  []*classfile.Insn // nil: at the start
}

// String implements step.
func (s *calledStep) String() string {
	return fmt.Sprintf("monitor %s %s %d", signature(s.code), s.to.name, s.slot)
}

// weave implements step.
func (s *calledStep) weave(p *Plan) error {
	insns := func() ([]*classfile.Insn, error) {
		call, err := p.call(s.to)
		if err != nil {
			return nil, err
		}
		list := []*classfile.Insn{classfile.NewConstInsn(s.slot), call}
		if s.object {
			list = append([]*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, 0)}, list...)
		}
		return list, nil
	}
	if s.after == nil {
		list, err := insns()
		if err != nil {
			return err
		}
		s.code.InsertBefore(s.code.First(), list...)
	}
	for _, call := range s.after {
		list, err := insns()
		if err != nil {
			return err
		}
		s.code.InsertAfter(call, list...)
	}
	s.code.MaxStack += 2
	s.code.Edited()
	return nil
}

// A resultStep passes what a method returns.
type resultStep struct {
	code *classfile.Code
	slot int32
	to   probe
	wide bool // it takes two places on the stack
}

// String implements step.
func (s *resultStep) String() string {
	return fmt.Sprintf("monitor %s %s %d", signature(s.code), s.to.name, s.slot)
}

// weave implements step.
func (s *resultStep) weave(p *Plan) error {
	dup := classfile.OpDup
	if s.wide {
		dup = classfile.OpDup2
	}
	for _, in := range append([]*classfile.Insn(nil), s.code.Insns...) {
		if !isReal(in) || !in.Op.IsReturn() {
			continue
		}
		call, err := p.call(s.to)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, classfile.NewInsn(dup), classfile.NewConstInsn(s.slot), call)
	}
	s.code.MaxStack += 3
	s.code.Edited()
	return nil
}

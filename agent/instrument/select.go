package instrument

import (
	"encoding/binary"
	"errors"
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// executionTypes are the execution methods of the platform's task types.
var executionTypes = [...]struct {
	kind             units.Kinds
	name, descriptor string
	guard            string // probe for classes that are not of this kind
	protected        bool   // may be non-public in an implementation
}{
	{units.KindRunnable, "run", "()V", "enterRunnable", false},
	{units.KindCallable, "call", "()Ljava/lang/Object;", "enterCallable", false},
	{units.KindForkJoin, "exec", "()Z", "enterForkJoin", true},
}

func (p *Plan) planCode(h classfile.Header, in Input, o *Options) error {
	defs := p.definitions(h, in.Supers, o)
	guardable := h.Access&classfile.AccFinal == 0 && !in.Hidden
	p.fitting(h, defs)
	for _, m := range p.class.Methods {
		probe := p.execution(m, defs, guardable)
		if probe == "" {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue // abstract or native
		}
		if err := p.compilable(m, code); err != nil {
			var known *Refusal
			if covariant(m) && errors.As(err, &known) {
				known.Member = m.Name + m.Descriptor
				p.Left = append(p.Left, known) // the bridge is woven and sees most executions
				continue
			}
			return err
		}
		p.Executions = append(p.Executions,
			MethodPlan{Name: m.Name, Descriptor: m.Descriptor, Probe: probe, member: m})
	}
	if p.Kinds&TaskKinds != 0 && h.Access&classfile.AccInterface == 0 {
		if err := p.planConstructors(p.topmost(h, in), o.Construction && p.class.Major >= ldcClass); err != nil {
			return err
		}
		if err := p.planClones(); err != nil {
			return err
		}
	}
	if o.Submissions {
		if err := p.planHandovers(); err != nil {
			return err
		}
		if err := p.planAsks(); err != nil {
			return err
		}
	}
	if p.sites != nil {
		p.planSites()
	}
	if h.Name == nameVirtualThread {
		return p.planMounts()
	}
	return nil
}

// definitions are the user's definitions that apply to this class: those that
// name it, and all of them if a supertype is named by one. (Which one is not
// known; a method that matches another definition by chance is an execution
// method too.)
func (p *Plan) definitions(h classfile.Header, supers Hierarchy, o *Options) []TaskDefinition {
	if p.Kinds&units.KindCustom == 0 {
		return nil
	}
	for _, s := range append([]string{h.Super}, h.Interfaces...) {
		if k, _ := superKinds(s, supers); k&units.KindCustom != 0 {
			return o.Tasks
		}
	}
	var defs []TaskDefinition
	for _, d := range o.Tasks {
		if matchGlob(d.Class, javaName(h.Name)) {
			defs = append(defs, d)
		}
	}
	return defs
}

// fitting notes which definitions fit a method with code, and which name a static
// one: it is of no object, so it is no task's.
func (p *Plan) fitting(h classfile.Header, defs []TaskDefinition) {
	for _, d := range defs {
		fits := false
		for _, m := range p.class.Methods {
			switch {
			case !d.matchesMethod(m.Name, m.Descriptor) || m.Name[0] == '<':
			case m.Access&classfile.AccStatic == 0:
				fits = fits || m.Access&classfile.AccAbstract == 0
			case !strings.ContainsAny(d.Method, "*?") && matchGlob(d.Class, javaName(h.Name)):
				fits = true
				p.Left = append(p.Left, &Refusal{Reason: ReasonStatic, Class: p.Class, Member: m.Name + m.Descriptor})
			}
		}
		if fits {
			p.Defined = append(p.Defined, d)
		}
	}
}

// execution names the probe for the start of a method, "" if it is no
// execution method. One that only a subclass can make so, by adding the
// interface, gets a probe that asks what the object is.
func (p *Plan) execution(m *classfile.Member, defs []TaskDefinition, guardable bool) string {
	if m.Access&classfile.AccStatic != 0 || m.Name == "" || m.Name[0] == '<' {
		return ""
	}
	guard := ""
	for _, t := range executionTypes {
		if m.Name != t.name || m.Descriptor != t.descriptor {
			continue
		}
		public := m.Access&classfile.AccPublic != 0
		if p.Kinds&t.kind != 0 && (public || t.protected && m.Access&classfile.AccPrivate == 0) {
			return probeEnter
		}
		if guardable && public {
			guard = t.guard
		}
	}
	if p.Class == nameVirtualThread && m.Name == "run" && m.Descriptor == "(Ljava/lang/Runnable;)V" {
		return probeEnter
	}
	for i := range defs {
		if defs[i].matchesMethod(m.Name, m.Descriptor) {
			return probeEnter
		}
	}
	if covariant(m) && m.Access&classfile.AccPublic != 0 {
		return p.covariantProbe(m, guardable)
	}
	return guard
}

// covariant tells whether a method overrides Callable.call with another return
// type where its class is a Callable: in the languages of the JVM no other
// method can have that name and no parameters then. Who has such an object may
// call it directly, past the bridge, which has the type of Callable's method.
func covariant(m *classfile.Member) bool {
	return m.Name == "call" && strings.HasPrefix(m.Descriptor, "()") && m.Descriptor != "()Ljava/lang/Object;"
}

// covariantProbe is execution's answer for such a method. What comes through
// the bridge, which has probes of its own, is one execution. A class that is no
// Callable lends its method to a subclass only if it gives an object: the
// compiler makes no bridge to others.
func (p *Plan) covariantProbe(m *classfile.Member, guardable bool) string {
	switch {
	case p.Kinds&units.KindCallable != 0:
		return probeCovariant
	case guardable && strings.ContainsRune("L[", rune(m.Descriptor[2])):
		return "enterCallable"
	}
	return ""
}

// planMounts finds the places where a virtual thread gets on and off its
// carrier. A JDK in which they look different is not refused, only noted: CPU
// time of virtual threads is then not available.
func (p *Plan) planMounts() error {
	if err := p.planPins(); err != nil {
		return err
	}
	for _, want := range []MountPlan{{Name: "mount", Probe: "mounted"}, {Name: "unmount", Probe: "unmounting"}} {
		var code *classfile.Code
		for _, m := range p.class.Methods {
			if m.Name != want.Name || m.Descriptor != "()V" || m.Access&classfile.AccStatic != 0 {
				continue
			}
			var err error
			if code, err = m.Code(); err != nil {
				return refusal(p.Class, err, ReasonSubroutine)
			}
			want.member = m
		}
		if code == nil {
			p.Notes = append(p.Notes, "no method "+want.Name+"()V: mounts of virtual threads are not seen")
			continue
		}
		p.Mounts = append(p.Mounts, want)
	}
	if err := p.planReady(); err != nil {
		return err
	}
	return p.planSwitch()
}

// planReady finds the ways in which a virtual thread is handed to its scheduler
// (submitRunContinuation, lazySubmitRunContinuation, externalSubmitRunContinuationOrThrow, ...).
// One may call another: the first counts.
func (p *Plan) planReady() error {
	found := false
	for _, m := range p.class.Methods {
		name := strings.ToLower(strings.TrimSuffix(m.Name, "OrThrow"))
		if !strings.HasSuffix(name, "submitruncontinuation") || m.Access&classfile.AccStatic != 0 {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code != nil {
			p.Mounts = append(p.Mounts, MountPlan{Name: m.Name, Probe: "ready", member: m})
			found = true
		}
	}
	if !found {
		p.Notes = append(p.Notes, "no method submitRunContinuation: how long virtual threads wait for a carrier is not seen")
	}
	return nil
}

// planSwitch finds where a virtual thread that parks or yields leaves its
// carrier and comes back: what the JVM needs for that, between there and unmount
// and mount, is not the thread's work. Before JDK 22 the same method calls
// unmount and mount right there, and nothing is left to be taken out.
func (p *Plan) planSwitch() error {
	for _, m := range p.class.Methods {
		if m.Name != "yieldContinuation" || m.Descriptor != "()Z" || m.Access&classfile.AccStatic != 0 {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			return nil
		}
		if call := p.switchIn(code); call != nil {
			p.Mounts = append(p.Mounts, MountPlan{Name: m.Name, Probe: "leaving", member: m, around: call, after: "returned"})
		}
	}
	return nil
}

// switchIn is the only call of Continuation.yield; nil: there is none, or
// several, or unmount is called here too.
func (p *Plan) switchIn(code *classfile.Code) *classfile.Insn {
	var found *classfile.Insn
	for _, in := range code.Insns {
		switch in.Op {
		case classfile.OpInvokestatic, classfile.OpInvokevirtual, classfile.OpInvokespecial:
		default:
			continue
		}
		owner, name, _, err := p.class.Pool.MemberRef(in.Index)
		switch {
		case err != nil, owner == nameVirtualThread && name == "unmount":
			return nil
		case owner == "jdk/internal/vm/Continuation" && name == "yield":
			if found != nil || in.Op != classfile.OpInvokestatic {
				return nil
			}
			found = in
		}
	}
	return found
}

// planPins finds where a virtual thread parks that cannot leave its carrier.
func (p *Plan) planPins() error {
	for _, m := range p.class.Methods {
		if m.Name != "parkOnCarrierThread" || m.Access&classfile.AccStatic != 0 {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code != nil {
			p.Executions = append(p.Executions,
				MethodPlan{Name: m.Name, Descriptor: m.Descriptor, Probe: "parking", member: m, exits: "parked"})
			return nil
		}
	}
	p.Notes = append(p.Notes, "no method parkOnCarrierThread: pinned virtual threads are not seen")
	return nil
}

// planConstructors follows this through every constructor.
func (p *Plan) planConstructors(topmost, measure bool) error {
	p.measure = measure
	for _, m := range p.class.Methods {
		if m.Name != "<init>" || m.Access&classfile.AccStatic != 0 {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		if err := p.compilable(m, code); err != nil {
			return err
		}
		c, err := planConstructor(p.class, m, code, topmost, measure)
		if err != nil {
			return err
		}
		if c.Created+c.Ranges > 0 || c.measured {
			p.Constructors = append(p.Constructors, *c)
		}
	}
	return nil
}

func planConstructor(class *classfile.Class, m *classfile.Member, code *classfile.Code, topmost, measure bool) (*ConstructorPlan, error) {
	flow, err := analyseThis(class, code)
	if err != nil {
		var known *Refusal
		if errors.As(err, &known) {
			known.Detail = "constructor " + m.Descriptor + ": " + known.Detail
			return nil, known
		}
		r := refuse(class.Name, ReasonBadCode, "constructor %s: %v", m.Descriptor, err)
		r.Err = err
		return nil, r
	}
	c := &ConstructorPlan{Descriptor: m.Descriptor, member: m}
	for _, s := range flow.covered(code) {
		c.spans = append(c.spans, insnSpan{code.Insns[s.from], code.Insns[s.to]})
	}
	c.Ranges = len(c.spans)
	for _, call := range flow.inits {
		if topmost && call.super {
			c.supers = append(c.supers, code.Insns[call.at])
		}
	}
	c.Created = len(c.supers)
	if measure {
		c.planConstruction(code, flow)
	}
	return c, nil
}

// hugeMethod is HotSpot's HugeMethodLimit: it interprets methods of more bytes
// for ever (-XX:+DontCompileHugeMethods, the default).
const hugeMethod = 8000

// compilable refuses a method that the JIT compiles now and would no longer
// compile when the probes are in it. The bytes added are an upper bound.
func (p *Plan) compilable(m *classfile.Member, code *classfile.Code) error {
	a := m.Attribute("Code")
	if a == nil || len(a.Data) < 8 {
		return nil // code that was not read from a file
	}
	size := int(binary.BigEndian.Uint32(a.Data[4:]))
	if size > hugeMethod || size < hugeMethod/2 {
		return nil
	}
	added := 3 * probeBytes // at its start, and two in its handler
	for _, in := range code.Insns {
		if in.Op.IsReturn() || m.Name == "<init>" && in.Op == classfile.OpInvokespecial {
			added += probeBytes
			if p.measure && m.Name == "<init>" {
				added += probeBytes
			}
		}
	}
	if size+added > hugeMethod {
		return refuse(p.Class, ReasonJIT, "%s%s has %d bytes, with probes up to %d; the limit is %d",
			m.Name, m.Descriptor, size, size+added, hugeMethod)
	}
	return nil
}

// probeBytes is the most that one probe takes: wide load, call, wide store or
// athrow.
const probeBytes = 4 + 3 + 4

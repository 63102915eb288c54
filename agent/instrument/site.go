package instrument

import (
	"fmt"
	"math"
	"slices"

	"stackagent/agent/classfile"
)

// Sites gives numbers to call sites. Its methods may be called by several
// goroutines at once.
type Sites interface {
	// Add returns the number of a site, above 0; 0: there are no more numbers.
	Add(s Site) int32
}

// Site is a call site. The names are Java names.
type Site struct {
	Class, Method string
	File          string // "": the class file does not say
	Line          int32  // 0: the class file does not say
	Calls         string // the method called there
	Function      string // the method of the lambda or method reference given to it, com.acme.Main.lambda$run$0
}

// siteKind says what happens at a site.
type siteKind uint8

const (
	siteCreates   siteKind = iota // a task is made
	siteMayCreate                 // an object is made; its class will show whether it is a task
	siteSubmits                   // a method is called that may submit a task
)

// callSites puts probes around the call sites where the program makes or submits
// tasks. Before the instruction they say which site it is, after it that it is
// past, and so does a handler for what it throws:
//
//	int before = -1;
//	try {
//		making(1); new Task(); made(1);
//		before = calling(2); execute(task); called(before);
//	} catch (Throwable t) { thrown(before); throw t; }
//
// The program's own handlers begin with thrown(before) too. A method that makes
// tasks and submits none has unmade() instead, and no local variable.
type callSites struct{}

func (callSites) wants(t target) bool { return t.mayInsert() && t.sites }

// plan implements kind. A bridge method has no line of its own: the site is where
// it is called. A method whose code cannot be read, or that would no longer be
// compiled, is left as it is: only its sites are lost. Before version 49 a class
// cannot name another one as a constant.
func (k callSites) plan(p *Plan) error {
	if p.class.Major < ldcClass {
		return nil
	}
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if err != nil || code == nil || m.Access&classfile.AccBridge != 0 {
			continue
		}
		s := &siteStep{code: code, before: -1}
		var flow *thisFlow
		if m.Name == "<init>" {
			// The verifier rejects what cannot be followed; a task's constructor is refused then.
			if flow, err = analyseThis(p.class, code); err != nil {
				continue
			}
			s.spans = flow.covered(code)
		}
		s.sites = k.find(p, code, flow)
		if n := len(s.sites); n > 0 && k.room(m, n, len(code.Handlers)) {
			p.steps = append(p.steps, s)
			p.Sites += n
		}
	}
	return nil
}

// siteBytes is the most that a site takes: push, call, wide store; wide load,
// call. siteHandlerBytes is what a handler does, siteMethodBytes what each method
// has besides: push and wide store at its start, a handler of its own and its athrow.
const (
	siteBytes        = 3 + 3 + 4 + 4 + 3
	siteHandlerBytes = 4 + 3
	siteMethodBytes  = 1 + 4 + siteHandlerBytes + 1
)

func (callSites) room(m *classfile.Member, sites, handlers int) bool {
	const mostBytes = 60000 // below the limit of 64 KiB, with room for the other probes
	size, ok := codeSize(m)
	if !ok {
		return true
	}
	after := size + sites*siteBytes + handlers*siteHandlerBytes + siteMethodBytes
	if size <= hugeMethod {
		return after <= hugeMethod*9/10 || size > hugeMethod*9/10 && after <= hugeMethod
	}
	return after <= mostBytes
}

// A siteStep is a method with call sites.
type siteStep struct {
	code   *classfile.Code
	sites  []site
	spans  []insnSpan // of a constructor: where its own object exists, so that there can be a handler
	before int        // the local variable of that name, below 0: no submission in this method
}

type site struct {
	in    *classfile.Insn
	kind  siteKind
	class uint16 // siteMayCreate: pool index of the class
	line  int32

	calls, function string
}

// String implements step.
func (s *siteStep) String() string {
	return fmt.Sprintf("sites in %s %d", signature(s.code), len(s.sites))
}

func (s *siteStep) submits() bool {
	return slices.ContainsFunc(s.sites, func(at site) bool { return at.kind == siteSubmits })
}

// weave implements step.
func (s *siteStep) weave(p *Plan) error {
	code := s.code
	depth := code.MaxStack
	if s.submits() {
		s.before = code.AddIntLocal()
	}
	if err := s.weaveThrown(p); err != nil {
		return err
	}
	if s.before >= 0 {
		code.InsertBefore(code.First(), classfile.NewConstInsn(-1), classfile.NewVarInsn(classfile.OpIstore, s.before))
	}
	file := p.sourceFile()
	for _, at := range s.sites {
		id := p.options.Sites.Add(Site{javaName(p.Class), code.Method().Name, file, at.line, at.calls, at.function})
		if id == 0 {
			break
		}
		if id > MostMarked {
			p.unmarked = true
		}
		before, after, err := s.around(p, at, id)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(at.in, before...)
		code.InsertAfter(at.in, after...)
	}
	grow(&code.MaxStack, depth+2)
	code.Edited()
	return nil
}

// MostMarked is the largest site number that is marked in the woven class.
const MostMarked = math.MaxInt16

// siteInsn pushes the number of a site. It has the same length whatever the number is, so that another run can put
// its own numbers there (see Plan.SiteNumbers).
func siteInsn(id int32) *classfile.Insn {
	if id > MostMarked {
		return classfile.NewConstInsn(id)
	}
	return classfile.NewMarkedInsn(int16(id))
}

// around makes the probes before and after a site.
func (s *siteStep) around(p *Plan, at site, id int32) (before, after []*classfile.Insn, err error) {
	before = []*classfile.Insn{siteInsn(id)}
	if at.kind == siteSubmits {
		call, err := p.call(probeCalling)
		if err != nil {
			return nil, nil, err
		}
		after, err = p.callWithToken(probeCalled, s.before)
		return append(before, call, classfile.NewVarInsn(classfile.OpIstore, s.before)), after, err
	}
	first := probeMaking
	if at.kind == siteMayCreate {
		before, first = append(before, classfile.NewLdc(at.class)), probeMaybe
	}
	call, err := p.call(first)
	if err != nil {
		return nil, nil, err
	}
	past, err := p.call(probeMade)
	return append(before, call), []*classfile.Insn{siteInsn(id), past}, err
}

// weaveThrown puts the probe for exceptions at the start of the method's handlers,
// those of other probes included, and adds one around all that has none yet.
func (s *siteStep) weaveThrown(p *Plan) error {
	code := s.code
	if err := s.weaveHandlers(p); err != nil {
		return err
	}
	if slices.Contains(p.caught, code.Method()) {
		return nil
	}
	ranges := labelled(code, s.spans)
	if code.Method().Name != "<init>" {
		ranges = []labels{{code.LabelBefore(code.First()), code.LabelAfter(code.Insns[len(code.Insns)-1])}}
	}
	if len(ranges) == 0 {
		return nil
	}
	thrown, err := s.thrown(p)
	if err != nil {
		return err
	}
	insns, locals, err := p.rethrowing(code, nil)
	if err != nil {
		return err
	}
	if s.before >= 0 {
		locals = classfile.WithLocal(locals, s.before, classfile.VerificationType{Tag: classfile.TypeInteger})
	}
	p.handle(code, ranges, locals, append(insns, thrown...))
	return nil
}

// weaveHandlers puts the probe at the start of each handler.
func (s *siteStep) weaveHandlers(p *Plan) error {
	targets := make(map[*classfile.Label]bool, len(s.code.Handlers))
	for _, h := range s.code.Handlers {
		targets[h.Target] = true
	}
	var starts []*classfile.Insn
	at := false
	for _, in := range s.code.Insns {
		if in.Op == classfile.OpLabel {
			at = at || targets[in.Label]
			continue
		}
		if at {
			starts = append(starts, in)
		}
		at = false
	}
	for _, in := range starts {
		thrown, err := s.thrown(p)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, thrown...)
	}
	return nil
}

// thrown forgets the current site where something was thrown.
func (s *siteStep) thrown(p *Plan) ([]*classfile.Insn, error) {
	if s.before >= 0 {
		return p.callWithToken(probeThrown, s.before)
	}
	call, err := p.call(probeUnmade)
	return []*classfile.Insn{call}, err
}

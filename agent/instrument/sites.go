package instrument

import (
	"encoding/binary"
	"slices"
	"strings"

	"stackagent/agent/classfile"
)

// Sites gives numbers to places in the source. Its methods may be called by
// several goroutines at once.
type Sites interface {
	// Add returns the number of a place, above 0; 0: there are no more numbers.
	// The names are Java names; file "" and line 0 stand for what the class file
	// does not say.
	Add(class, method, file string, line int32) int32
}

// siteKind says what happens at a place.
type siteKind uint8

const (
	siteCreates   siteKind = iota // a task is made
	siteMayCreate                 // an object is made; the class of which will show whether it is a task
	siteHandsOver                 // a method is called that may hand a task over
)

// The probes of places. Before the instruction they say which place it is,
// after it that it is past, and so does a handler for what it throws:
//
//	int before = -1;
//	try {
//		making(1); new Task(); made(1);
//		before = calling(2); execute(task); called(before);
//	} catch (Throwable t) { thrown(before); throw t; }
//
// The program's own handlers begin with thrown(before) too. A method that makes
// tasks and hands none over has unmade() in place of it, and no local variable.
const (
	probeMaking  = "making"  // (I)V
	probeMaybe   = "maybe"   // (ILjava/lang/Class;)V
	probeMade    = "made"    // (I)V
	probeCalling = "calling" // (I)I
	probeCalled  = "called"  // (I)V
	probeThrown  = "thrown"  // (I)V
	probeUnmade  = "unmade"  // ()V

	descMaybe   = "(ILjava/lang/Class;)V"
	descCalling = "(I)I"
	descUnmade  = "()V"
)

// A SitePlan is a method with places to be told.
type SitePlan struct {
	Name, Descriptor string
	Places           int

	member *classfile.Member
	places []place
	spans  []insnSpan // of a constructor: where its own object is there, so that there can be a handler
	before int        // the local variable of that name, below 0: no hand-over in this method
}

// handsOver tells whether a place of the method is that of a hand-over.
func (s *SitePlan) handsOver() bool {
	return slices.ContainsFunc(s.places, func(pl place) bool { return pl.kind == siteHandsOver })
}

type place struct {
	in    *classfile.Insn
	kind  siteKind
	class uint16 // siteMayCreate: pool index of the class
	line  int32
}

// platformTasks are the classes of the platform that a program makes with new
// and that are tasks.
var platformTasks = map[string]bool{nameThread: true, nameFutureTask: true}

var platformPrefixes = []string{"java/", "javax/", "jdk/", "sun/", "com/sun/"}

// ofPlatform tells by its name whether a class belongs to the JDK.
func ofPlatform(class string) bool {
	for _, p := range platformPrefixes {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return false
}

// wantsSites tells whether places in a class are told: those of the program.
// Before version 49 a class can not name another one as a constant.
func wantsSites(h classfile.Header, in Input, o *Options, filtered bool) bool {
	return o.Sites != nil && !filtered && !in.Hidden && in.Mode != ModeStructure &&
		(o.everywhere || !in.Platform && !ofPlatform(h.Name))
}

// planSites finds the places. A bridge method is none of the program's, its line
// is that of the class: the place is where it is called. A method whose code can not be read, or that would
// no longer be compiled, is left as it is: nothing is lost but the place.
func (p *Plan) planSites() {
	if p.class.Major < 49 {
		return
	}
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if err != nil || code == nil || m.Access&classfile.AccBridge != 0 {
			continue
		}
		s := SitePlan{Name: m.Name, Descriptor: m.Descriptor, member: m, before: -1}
		var flow *thisFlow
		if m.Name == "<init>" {
			// What can not be followed, the verifier rejects; the constructor of a task is refused then.
			if flow, err = analyseThis(p.class, code); err != nil {
				continue
			}
			for _, span := range flow.covered(code) {
				s.spans = append(s.spans, insnSpan{code.Insns[span.from], code.Insns[span.to]})
			}
		}
		s.places = p.findPlaces(code, flow)
		if s.Places = len(s.places); s.Places > 0 && roomForSites(m, s.Places, len(code.Handlers)) {
			p.Sites = append(p.Sites, s)
		}
	}
}

// siteBytes is the most that a place takes: push, call, wide store; wide load,
// call. siteHandlerBytes is what a handler does, siteMethodBytes what each method
// has beside: push and wide store at its start, a handler of its own and its athrow.
const (
	siteBytes        = 3 + 3 + 4 + 4 + 3
	siteHandlerBytes = 4 + 3
	siteMethodBytes  = 1 + 4 + siteHandlerBytes + 1
)

func roomForSites(m *classfile.Member, places, handlers int) bool {
	a := m.Attribute("Code")
	if a == nil || len(a.Data) < 8 {
		return true
	}
	const mostBytes = 60000 // below the limit of 64 KiB, with room for the other probes
	size := int(binary.BigEndian.Uint32(a.Data[4:]))
	after := size + places*siteBytes + handlers*siteHandlerBytes + siteMethodBytes
	if size <= hugeMethod {
		return after <= hugeMethod*9/10 || size > hugeMethod*9/10 && after <= hugeMethod
	}
	return after <= mostBytes
}

// findPlaces finds the places in a method; flow is that of a constructor, else
// nil: the calls of super(...) and this(...) in it make no other object.
func (p *Plan) findPlaces(code *classfile.Code, flow *thisFlow) []place {
	own := map[*classfile.Insn]bool{}
	if flow != nil {
		for _, call := range flow.inits {
			own[code.Insns[call.at]] = true
		}
	}
	lines := make(map[*classfile.Label]int32, len(code.Lines))
	for _, l := range code.Lines {
		lines[l.At] = int32(l.Line)
	}
	var found []place
	line := int32(0)
	for _, in := range code.Insns {
		if in.Op == classfile.OpLabel {
			if l, ok := lines[in.Label]; ok {
				line = l
			}
			continue
		}
		if own[in] {
			continue
		}
		if pl, ok := p.placeAt(in); ok {
			pl.in, pl.line = in, line
			found = append(found, pl)
		}
	}
	return found
}

func (p *Plan) placeAt(in *classfile.Insn) (place, bool) {
	switch in.Op {
	case classfile.OpInvokedynamic:
		_, descriptor, err := p.class.Pool.NameAndType(in.Index)
		end := strings.IndexByte(descriptor, ')')
		return place{kind: siteCreates}, err == nil && end >= 0 && taskTypes[descriptor[end+1:]]
	case classfile.OpInvokespecial, classfile.OpInvokevirtual, classfile.OpInvokeinterface, classfile.OpInvokestatic:
	default:
		return place{}, false
	}
	owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
	switch {
	case err != nil:
		return place{}, false
	case name == "<init>":
		return p.creationAt(owner)
	}
	return place{kind: siteHandsOver}, callsHandover(owner, name, descriptor) || callsParallel(owner, name, descriptor)
}

// creationAt plans the construction of an object.
func (p *Plan) creationAt(owner string) (place, bool) {
	switch {
	case platformTasks[owner]:
		return place{kind: siteCreates}, true
	case owner == p.Class && p.Kinds&TaskKinds == 0: // jvmti/class_sites.c leaves it out, too
		return place{}, false
	case !p.everywhere && ofPlatform(owner), strings.HasSuffix(owner, "Exception"), strings.HasSuffix(owner, "Error"):
		return place{}, false
	}
	index, err := p.class.Pool.AddClass(owner) // it is there: the reference names it
	return place{kind: siteMayCreate, class: index}, err == nil
}

// callsHandover tells by its name and type whether a method may hand a task over.
func callsHandover(owner, name, descriptor string) bool {
	switch {
	case name == "start" && descriptor == "()V", name == "fork" && descriptor == "()L"+nameForkJoinTask+";":
		return true
	case strings.HasPrefix(name, "invokeA"):
		return strings.Contains(descriptor, "Ljava/util/Collection;") || strings.Contains(descriptor, "L"+nameForkJoinTask+";")
	case strings.HasSuffix(name, "Async"):
		return strings.HasPrefix(owner, "java/util/concurrent/Complet")
	case strings.HasPrefix(name, "start"):
		return strings.HasPrefix(owner, nameThread) && taskParameter(descriptor) > 0
	}
	return handsOver(name) && taskParameter(descriptor) > 0
}

// terminal are the operations of a stream that execute it.
var terminal = map[string]bool{"forEach": true, "forEachOrdered": true, "toArray": true, "toList": true, "reduce": true,
	"collect": true, "min": true, "max": true, "sum": true, "count": true, "average": true, "summaryStatistics": true,
	"anyMatch": true, "allMatch": true, "noneMatch": true, "findFirst": true, "findAny": true}

// callsParallel tells whether a method of the platform may make tasks of its own
// for what it is to do. jvmti/class_sites.c looks for the same owners.
func callsParallel(owner, name, descriptor string) bool {
	switch owner {
	case "java/util/stream/Stream", "java/util/stream/IntStream", "java/util/stream/LongStream", "java/util/stream/DoubleStream":
		return terminal[name]
	case "java/util/Arrays":
		return strings.HasPrefix(name, "parallel")
	case "java/util/concurrent/ConcurrentHashMap":
		return strings.HasPrefix(descriptor, "(J") // the parallelism threshold comes first
	}
	return false
}

// weaveSites puts the probes around the places, and takes the place away where
// the method catches something, or throws.
func (p *Plan) weaveSites(table Sites, s SitePlan) error {
	code, err := s.member.Code()
	if err != nil {
		return err
	}
	depth := code.MaxStack
	if s.handsOver() {
		s.before = code.AddIntLocal()
	}
	if err := p.weaveThrown(code, s); err != nil {
		return err
	}
	if s.before >= 0 {
		code.InsertBefore(code.First(), classfile.NewConstInsn(-1), classfile.NewVarInsn(classfile.OpIstore, s.before))
	}
	file := p.sourceFile()
	for _, pl := range s.places {
		id := table.Add(javaName(p.Class), s.Name, file, pl.line)
		if id == 0 {
			break
		}
		before, after, err := p.siteProbes(pl, id, s.before)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(pl.in, before...)
		code.InsertAfter(pl.in, after...)
	}
	grow(&code.MaxStack, depth+2)
	code.Edited()
	return nil
}

// weaveThrown puts the probe at the start of the method's handlers, those of
// other probes among them, and adds one around all that has none yet.
func (p *Plan) weaveThrown(code *classfile.Code, s SitePlan) error {
	if err := p.thrownInHandlers(code, s); err != nil {
		return err
	}
	if p.catchesAll(s.member) {
		return nil
	}
	var ranges []labels
	if s.member.Name == "<init>" {
		for _, span := range s.spans {
			ranges = append(ranges, labels{code.LabelBefore(span.from), code.LabelAfter(span.to)})
		}
	} else {
		ranges = []labels{{code.LabelBefore(code.First()), code.LabelAfter(code.Insns[len(code.Insns)-1])}}
	}
	if len(ranges) == 0 {
		return nil
	}
	thrown, err := p.thrown(s)
	if err != nil {
		return err
	}
	count, locals, err := p.rethrowing(s.member, nil)
	if err != nil {
		return err
	}
	if s.before >= 0 {
		locals = classfile.WithLocal(locals, s.before, classfile.VerificationType{Tag: classfile.TypeInteger})
	}
	handler := rethrow(code, locals, append(count, thrown...))
	for _, r := range ranges {
		code.AddHandler(r.start, r.end, handler, "")
	}
	return nil
}

// catchesAll tells whether the probes of an execution, a hand-over or a
// constructor catch all that a method throws.
func (p *Plan) catchesAll(m *classfile.Member) bool {
	return slices.ContainsFunc(p.Executions, func(x MethodPlan) bool { return x.member == m }) ||
		slices.ContainsFunc(p.Handovers, func(x HandoverPlan) bool { return x.member == m && x.Probe != probeCancelled }) ||
		slices.ContainsFunc(p.Constructors, func(x ConstructorPlan) bool { return x.member == m && x.Ranges > 0 })
}

// thrownInHandlers puts the probe at the start of each handler.
func (p *Plan) thrownInHandlers(code *classfile.Code, s SitePlan) error {
	targets := make(map[*classfile.Label]bool, len(code.Handlers))
	for _, h := range code.Handlers {
		targets[h.Target] = true
	}
	var starts []*classfile.Insn
	at := false
	for _, in := range code.Insns {
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
		thrown, err := p.thrown(s)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(in, thrown...)
	}
	return nil
}

// thrown takes the place away where something was thrown.
func (p *Plan) thrown(s SitePlan) ([]*classfile.Insn, error) {
	if s.before >= 0 {
		return p.callWithToken(probeThrown, s.before)
	}
	call, err := p.probe(probeUnmade, descUnmade)
	return []*classfile.Insn{call}, err
}

// siteProbes makes the probes before and after a place; saved is the local
// variable for where something else was being handed over.
func (p *Plan) siteProbes(pl place, id int32, saved int) (before, after []*classfile.Insn, err error) {
	if pl.kind == siteHandsOver {
		call, err := p.probe(probeCalling, descCalling)
		if err != nil {
			return nil, nil, err
		}
		after, err = p.callWithToken(probeCalled, saved)
		return []*classfile.Insn{classfile.NewConstInsn(id), call, classfile.NewVarInsn(classfile.OpIstore, saved)}, after, err
	}
	first, descriptor := probeMaking, descToken
	before = []*classfile.Insn{classfile.NewConstInsn(id)}
	if pl.kind == siteMayCreate {
		before, first, descriptor = append(before, classfile.NewLdc(pl.class)), probeMaybe, descMaybe
	}
	call, err := p.probe(first, descriptor)
	if err != nil {
		return nil, nil, err
	}
	past, err := p.probe(probeMade, descToken)
	return append(before, call), []*classfile.Insn{classfile.NewConstInsn(id), past}, err
}

// sourceFile is what the class file says of it, "" if it does not.
func (p *Plan) sourceFile() string {
	for _, a := range p.class.Attributes {
		if a.Name == "SourceFile" && len(a.Data) == 2 {
			name, _ := p.class.Pool.Utf8(binary.BigEndian.Uint16(a.Data))
			return name
		}
	}
	return ""
}

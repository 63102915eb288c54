package instrument

import (
	"encoding/binary"
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
// after it that it is past.
const (
	probeMaking  = "making"  // (I)V
	probeMaybe   = "maybe"   // (ILjava/lang/Class;)V
	probeMade    = "made"    // (I)V
	probeCalling = "calling" // (I)V
	descMaybe    = "(ILjava/lang/Class;)V"
)

// A SitePlan is a method with places to be told.
type SitePlan struct {
	Name, Descriptor string
	Places           int

	member *classfile.Member
	places []place
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
		s := SitePlan{Name: m.Name, Descriptor: m.Descriptor, member: m, places: p.findPlaces(m, code)}
		if s.Places = len(s.places); s.Places > 0 && roomForSites(m, s.Places) {
			p.Sites = append(p.Sites, s)
		}
	}
}

// siteBytes is the most that a place takes: push, ldc_w, call; push, call.
const siteBytes = 3 + 3 + 3 + 3 + 3

func roomForSites(m *classfile.Member, places int) bool {
	a := m.Attribute("Code")
	if a == nil || len(a.Data) < 8 {
		return true
	}
	const mostBytes = 60000 // below the limit of 64 KiB, with room for the other probes
	size := int(binary.BigEndian.Uint32(a.Data[4:]))
	after := size + places*siteBytes
	if size <= hugeMethod {
		return after <= hugeMethod*9/10 || size > hugeMethod*9/10 && after <= hugeMethod
	}
	return after <= mostBytes
}

func (p *Plan) findPlaces(m *classfile.Member, code *classfile.Code) []place {
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
		if pl, ok := p.placeAt(m, in); ok {
			pl.in, pl.line = in, line
			found = append(found, pl)
		}
	}
	return found
}

func (p *Plan) placeAt(m *classfile.Member, in *classfile.Insn) (place, bool) {
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
		return p.creationAt(m, owner)
	}
	return place{kind: siteHandsOver}, callsHandover(owner, name, descriptor)
}

// creationAt plans the construction of an object. In a constructor the call may
// be that of super(...) or this(...).
func (p *Plan) creationAt(m *classfile.Member, owner string) (place, bool) {
	switch {
	case m.Name == "<init>" && (owner == p.class.Name || owner == p.class.Super):
		return place{}, false
	case platformTasks[owner]:
		return place{kind: siteCreates}, true
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

// weaveSites puts the probes around the places.
func (p *Plan) weaveSites(table Sites, s SitePlan) error {
	code, err := s.member.Code()
	if err != nil {
		return err
	}
	file := p.sourceFile()
	depth := code.MaxStack
	for _, pl := range s.places {
		id := table.Add(javaName(p.Class), s.Name, file, pl.line)
		if id == 0 {
			break
		}
		before, after, err := p.siteProbes(pl, id)
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

func (p *Plan) siteProbes(pl place, id int32) (before, after []*classfile.Insn, err error) {
	first, last := probeMaking, probeMade
	switch pl.kind {
	case siteMayCreate:
		first = probeMaybe
	case siteHandsOver:
		first, last = probeCalling, probeCalling
	}
	descriptor := descToken
	before = []*classfile.Insn{classfile.NewConstInsn(id)}
	if pl.kind == siteMayCreate {
		before, descriptor = append(before, classfile.NewLdc(pl.class)), descMaybe
	}
	call, err := p.probe(first, descriptor)
	if err != nil {
		return nil, nil, err
	}
	past, err := p.probe(last, descToken)
	if err != nil {
		return nil, nil, err
	}
	if pl.kind == siteHandsOver {
		id = 0
	}
	return append(before, call), []*classfile.Insn{classfile.NewConstInsn(id), past}, nil
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

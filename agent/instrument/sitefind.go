package instrument

import (
	"encoding/binary"
	"strings"

	"stackagent/agent/classfile"
)

// find finds the sites in a method; flow is that of a constructor, else nil: the
// calls of super(...) and this(...) in it make no other object.
func (k callSites) find(p *Plan, code *classfile.Code, flow *thisFlow) []site {
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
	var found []site
	line := int32(0)
	given := p.newFunctions(code)
	for _, in := range code.Insns {
		given.follow(in)
		if in.Op == classfile.OpLabel {
			if l, ok := lines[in.Label]; ok {
				line = l
			}
			continue
		}
		if own[in] {
			continue
		}
		if at, ok := k.at(p, in); ok {
			at.in, at.line = in, line
			at.calls, at.function = given.calls, given.function
			found = append(found, at)
		}
	}
	return found
}

// at reports whether an instruction is a site.
func (k callSites) at(p *Plan, in *classfile.Insn) (site, bool) {
	switch in.Op {
	case classfile.OpInvokedynamic:
		_, descriptor, err := p.class.Pool.NameAndType(in.Index)
		end := strings.IndexByte(descriptor, ')')
		return site{kind: siteCreates}, err == nil && end >= 0 && p.options.lambdaOfTask(descriptor[end+1:])
	case classfile.OpInvokespecial, classfile.OpInvokevirtual, classfile.OpInvokeinterface, classfile.OpInvokestatic:
	default:
		return site{}, false
	}
	owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
	switch {
	case err != nil:
		return site{}, false
	case name == "<init>":
		return k.creation(p, owner)
	}
	return site{kind: siteSubmits}, callsSubmission(owner, name, descriptor) || callsParallel(owner, name, descriptor)
}

// creation plans the construction of an object.
func (callSites) creation(p *Plan, owner string) (site, bool) {
	switch {
	case owner == nameThread, owner == nameFutureTask: // the platform's own tasks that programs make with new
		return site{kind: siteCreates}, true
	case owner == p.Class && !p.isTask(): // the C scan in jvmti leaves it out, too
		return site{}, false
	case !p.options.everywhere && ofPlatform(owner), strings.HasSuffix(owner, "Exception"), strings.HasSuffix(owner, "Error"):
		return site{}, false
	}
	index, err := p.class.Pool.AddClass(owner) // it is there: the reference names it
	return site{kind: siteMayCreate, class: index}, err == nil
}

// callsSubmission reports by name and type whether a method may submit a task.
func callsSubmission(owner, name, descriptor string) bool {
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
	return submits(name) && taskParameter(descriptor) > 0
}

// terminal are the operations of a stream that execute it.
var terminal = map[string]bool{"forEach": true, "forEachOrdered": true, "toArray": true, "toList": true, "reduce": true,
	"collect": true, "min": true, "max": true, "sum": true, "count": true, "average": true, "summaryStatistics": true,
	"anyMatch": true, "allMatch": true, "noneMatch": true, "findFirst": true, "findAny": true}

// callsParallel reports whether a method of the platform may make tasks of its own
// for its work. The C scan in jvmti looks for the same owners.
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

// sourceFile is the name of the source file, "" if the class file does not give it.
func (p *Plan) sourceFile() string {
	for _, a := range p.class.Attributes {
		if a.Name == "SourceFile" && len(a.Data) == 2 {
			name, _ := p.class.Pool.Utf8(binary.BigEndian.Uint16(a.Data))
			return name
		}
	}
	return ""
}

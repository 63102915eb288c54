package instrument

import (
	"slices"
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/taskdef"
)

// A task may be a loop that takes pieces of work and passes each to a method: the
// request handlers of a server. Its one execution then says little. loopCall finds the
// method by the code, so that the user can be shown how to name it.

// Bounds of what is looked at.
const (
	maxCalls    = 200 // of loops
	maxOwnCalls = 20
)

// loopCall is a method that a loop calls.
type loopCall struct {
	owner, name, descriptor string
	score                   int
}

// definition is the definition of the task that each call of the method then is.
func (c *loopCall) definition() string {
	return TaskDefinition{Class: javaName(c.owner), Method: c.name, Descriptor: c.descriptor}.String()
}

// handles are how methods are called that do a piece of work.
var handles = []string{"handle", "process", "dispatch", "execute", "perform", "serve", "invoke", "consume", "accept", "receive", "onEvent", "onMessage", "doWork", "run", "call", "work", "step"}

// findLoopCall sets p.LoopCall by the methods that execute a task of the program.
func (p *Plan) findLoopCall() {
	if p.in.Platform || ofPlatform(p.Class) || p.hidden || !p.isTask() {
		return
	}
	var best, step loopCall
	for _, m := range p.class.Methods {
		if isStatic(m) || !isTaskMethod(m) {
			continue
		}
		p.Executed = true
		for _, body := range append([]*classfile.Member{m}, p.ownCalls(m, instructions(m))...) {
			loop := loopOf(instructions(body))
			best.improve(p.calls(loop))
			for _, own := range p.ownCalls(body, loop) {
				step.improve(p.calls(instructions(own)))
			}
		}
	}
	if best.score == 0 { // the loop calls only the task's own methods: what these call is in the loop, too
		best = step
	}
	if best.score > 0 {
		p.LoopCall = best.definition()
	}
}

// improve takes the best of the calls if it is better.
func (c *loopCall) improve(calls []loopCall) {
	for _, x := range calls {
		if x.score > c.score {
			*c = x
		}
	}
}

// instructions are those of a method; nil: it has none, or they cannot be read.
func instructions(m *classfile.Member) []*classfile.Insn {
	code, err := m.Code()
	if err != nil || code == nil {
		return nil
	}
	return code.Insns
}

// ownCalls are the methods of the class itself that instructions of m call: the loop, or a
// step of it, may be in one.
func (p *Plan) ownCalls(m *classfile.Member, in []*classfile.Insn) []*classfile.Member {
	var own []*classfile.Member
	for _, in := range in {
		switch in.Op {
		case classfile.OpInvokevirtual, classfile.OpInvokespecial:
		default:
			continue
		}
		owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
		if err != nil || owner != p.Class {
			continue
		}
		if called := p.class.Method(name, descriptor); called != nil && called != m && len(own) < maxOwnCalls {
			own = append(own, called)
		}
	}
	return own
}

// loopOf are the instructions between the target of a jump back and the jump.
func loopOf(all []*classfile.Insn) []*classfile.Insn {
	at := make(map[*classfile.Label]int)
	for i, in := range all {
		if in.Op == classfile.OpLabel {
			at[in.Label] = i
		}
	}
	first, last := len(all), -1
	for i, in := range all {
		if in.Target == nil {
			continue
		}
		if to, back := at[in.Target]; back && to < i { // a label behind the jump is not known yet or lies higher
			first, last = min(first, to), max(last, i)
		}
	}
	if first > last {
		return nil
	}
	return all[first:last]
}

// calls are those of instructions that can be tasks.
func (p *Plan) calls(in []*classfile.Insn) []loopCall {
	var calls []loopCall
	for _, in := range in {
		if c, ok := p.loopCall(in); ok && len(calls) < maxCalls {
			calls = append(calls, c)
		}
	}
	return calls
}

// loopCall is the call that an instruction makes of a method that can be a task's: of
// the program, and with an object.
func (p *Plan) loopCall(in *classfile.Insn) (loopCall, bool) {
	switch in.Op {
	case classfile.OpInvokevirtual, classfile.OpInvokeinterface, classfile.OpInvokespecial:
	default:
		return loopCall{}, false
	}
	owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
	if err != nil || name == "" || name[0] == '<' || ofPlatform(owner) || strings.HasPrefix(owner, "[") || aside(owner) {
		return loopCall{}, false
	}
	if owner == p.Class { // on the task itself: within its own execution such a call is none
		return loopCall{}, false
	}
	c := loopCall{owner: owner, name: name, descriptor: descriptor}
	c.score = c.rate()
	return c, c.score > 0
}

// aside reports whether a class belongs to what programs do beside their work.
func aside(class string) bool {
	return slices.ContainsFunc([]string{"scala/", "kotlin/", "org/slf4j/", "org/apache/logging/", "org/apache/log4j/", "org/apache/commons/logging/", "com/typesafe/scalalogging/"},
		func(prefix string) bool { return strings.HasPrefix(class, prefix) })
}

// begins reports whether word is the first word of the name.
func (c *loopCall) begins(word string) bool {
	rest, ok := strings.CutPrefix(c.name, word)
	return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
}

// rate says how much a call looks like that of a piece of work: it is named so, it gets an
// object of the program, it returns nothing. By any other name it may be a step beside the work.
func (c *loopCall) rate() int {
	arguments, result, _ := strings.Cut(c.descriptor[1:], ")")
	work := slices.ContainsFunc(handles, c.begins)
	object := false
	for d := arguments; d != ""; {
		n := taskdef.FieldLen(d)
		if n == 0 {
			return 0
		}
		object = object || d[0] == 'L' && !ofPlatform(d[1:n]) && !aside(d[1:n])
		d = d[n:]
	}
	score := 0
	switch {
	case work && object:
		score = 8
	case work:
		score = 5
	}
	if score > 0 && result == "V" {
		score++
	}
	if score == 0 && c.begins("poll") { // the loop of an event loop: better than nothing
		score = 1
	}
	return score
}

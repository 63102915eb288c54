package instrument

import (
	"slices"

	"stackagent/agent/classfile"
)

// value is what a local variable or a stack slot can hold, as far as a
// constructor's own object is concerned.
type value uint8

const (
	valueNone   value = iota // the instruction is not reached
	valueOther               // anything else, or different things on different paths
	valueUninit              // this, before the call of super(...) or this(...)
	valueSelf                // this, after it
)

// frame is the state before an instruction.
type frame struct {
	locals, stack []value
}

func (f *frame) clone() *frame {
	return &frame{append([]value(nil), f.locals...), append([]value(nil), f.stack...)}
}

// uninitialised reports whether this can still be found before the call of super(...).
func (f *frame) uninitialised() bool {
	return slices.Contains(f.locals, valueUninit) || slices.Contains(f.stack, valueUninit)
}

// merge joins g into f and reports whether f changed; ok is false if the depths
// of the stacks differ.
func (f *frame) merge(g *frame) (changed, ok bool) {
	if len(f.stack) != len(g.stack) {
		return false, false
	}
	join := func(a, b []value) {
		for i := range a {
			if a[i] != b[i] && a[i] != valueOther {
				a[i] = valueOther
				changed = true
			}
		}
	}
	join(f.locals, g.locals)
	join(f.stack, g.stack)
	return changed, true
}

// initCall is an instruction that initialises this.
type initCall struct {
	at    int  // index of the invokespecial in Insns
	super bool // super(...), not this(...)
}

// thisFlow is where a constructor's own object is, found by the same kind of
// dataflow as the verifier's. It distinguishes the call of super(...) from the
// construction of its arguments.
type thisFlow struct {
	local0 []value // what local 0 holds before each of Code.Insns
	inits  []initCall
}

// flowBudget bounds the work on one constructor, in values copied and handlers
// merged. The largest constructor of a JDK needs less than a hundredth.
const flowBudget = 50_000_000

type flowError string

func (e flowError) Error() string { return string(e) }

// analysis is the working state of analyseThis.
type analysis struct {
	class    *classfile.Class
	code     *classfile.Code
	start    bool   // stop where super(...) has returned
	join     []bool // a walk stops there
	edge     []bool // the set of handlers changes there
	states   map[int]*frame
	todo     []int
	local0   []value
	receiver map[int]value // of each <init> call, by index
	budget   int
}

// analyseThis follows this through a constructor. The error says why the code
// cannot be followed; the verifier would not accept it either.
func analyseThis(class *classfile.Class, code *classfile.Code) (*thisFlow, error) {
	a := &analysis{class: class, code: code}
	return a.run()
}

// analyseStart follows this only up to the call that initialises it.
func analyseStart(class *classfile.Class, code *classfile.Code) (*thisFlow, error) {
	a := &analysis{class: class, code: code, start: true}
	return a.run()
}

func (a *analysis) run() (*thisFlow, error) {
	code := a.code
	n := len(code.Insns)
	flags := make([]bool, 2*(n+1))
	a.join, a.edge, a.states = flags[:n+1], flags[n+1:], make(map[int]*frame)
	a.local0, a.receiver, a.budget = make([]value, n), make(map[int]value), flowBudget
	if err := a.mark(); err != nil {
		return nil, err
	}
	entry := &frame{locals: make([]value, code.MaxLocals)}
	for i := range entry.locals {
		entry.locals[i] = valueOther
	}
	if code.MaxLocals == 0 {
		return nil, flowError("no local variable for this")
	}
	entry.locals[0] = valueUninit
	a.reach(0, entry)
	for len(a.todo) > 0 {
		at := a.todo[len(a.todo)-1]
		a.todo = a.todo[:len(a.todo)-1]
		if err := a.walk(at); err != nil {
			return nil, err
		}
	}
	return a.result()
}

// mark finds the labels and the instructions where walks meet.
func (a *analysis) mark() error {
	for _, in := range a.code.Insns {
		if in.Target == nil && in.Switch == nil {
			continue
		}
		for _, t := range targets(in) {
			i := a.code.Position(t)
			if i < 0 {
				return flowError("a jump out of the code")
			}
			a.join[i] = true
		}
	}
	for _, h := range a.code.Handlers {
		i, start, end := a.code.Position(h.Target), a.code.Position(h.Start), a.code.Position(h.End)
		if i < 0 || start < 0 || end < 0 {
			return flowError("an exception handler out of the code")
		}
		a.join[i], a.edge[start], a.edge[end] = true, true, true
	}
	return nil
}

// targets are the labels that an instruction can jump to.
func targets(in *classfile.Insn) []*classfile.Label {
	switch {
	case in.Target != nil:
		return []*classfile.Label{in.Target}
	case in.Switch != nil:
		return append([]*classfile.Label{in.Switch.Default}, in.Switch.Targets...)
	}
	return nil
}

// reach merges f into the state at a join.
func (a *analysis) reach(at int, f *frame) error {
	a.budget -= len(f.locals) + len(f.stack) + 1
	if a.budget < 0 {
		return flowError("too much code to follow")
	}
	old := a.states[at]
	if old == nil {
		a.states[at] = f.clone()
		a.todo = append(a.todo, at)
		return nil
	}
	changed, ok := old.merge(f)
	if !ok {
		return flowError("stacks of different depth meet")
	}
	if changed {
		a.todo = append(a.todo, at)
	}
	return nil
}

// walk follows the code from a join to the next one.
func (a *analysis) walk(from int) error {
	f := a.states[from].clone()
	fresh := true // the handlers have not seen these locals yet
	for i := from; ; i++ {
		if i >= len(a.code.Insns) {
			return flowError("execution runs off the end")
		}
		if i > from && a.join[i] {
			return a.reach(i, f)
		}
		in := a.code.Insns[i]
		fresh = fresh || a.edge[i]
		a.local0[i] = f.locals[0]
		if in.Op.IsPseudo() {
			continue
		}
		if fresh {
			if err := a.raise(i, f); err != nil {
				return err
			}
		}
		var err error
		if fresh, err = a.step(i, in, f); err != nil {
			return err
		}
		for _, t := range targets(in) {
			if err := a.reach(a.code.Position(t), f); err != nil {
				return err
			}
		}
		if in.Op.Ends() || a.start && in.Op == classfile.OpInvokespecial && !f.uninitialised() {
			return nil
		}
	}
}

// raise merges the locals into the handlers that cover instruction i.
func (a *analysis) raise(i int, f *frame) error {
	a.budget -= len(a.code.Handlers)
	for _, h := range a.code.Handlers {
		if i < a.code.Position(h.Start) || i >= a.code.Position(h.End) {
			continue
		}
		if err := a.reach(a.code.Position(h.Target), &frame{f.locals, []value{valueOther}}); err != nil {
			return err
		}
	}
	return nil
}

func (a *analysis) result() (*thisFlow, error) {
	flow := &thisFlow{local0: a.local0}
	for i, in := range a.code.Insns {
		if a.receiver[i] != valueUninit {
			continue
		}
		owner, _, _, err := a.class.Pool.MemberRef(in.Index)
		if err != nil {
			return nil, err
		}
		if a.local0[i] != valueUninit {
			return nil, &Refusal{Reason: ReasonThisLost, Class: a.class.Name,
				Detail: "this is not in local variable 0 when the super constructor is called"}
		}
		flow.inits = append(flow.inits, initCall{i, owner != a.class.Name})
	}
	return flow, nil
}

// canThrow reports whether an instruction can raise an exception of the program's
// making. Those that only move values cannot.
func canThrow(op classfile.Opcode) bool {
	switch {
	case op <= classfile.OpSipush, op == classfile.OpLdc2W, op == classfile.OpGoto, op.IsReturn(), op == classfile.OpIinc:
		return false
	case op >= classfile.OpIload && op <= classfile.OpAload, op >= classfile.OpIstore && op <= classfile.OpAstore:
		return false
	}
	return true
}

// covered lists the stretches of code before each instruction of which local 0
// holds the initialised object, without those in which nothing can fail (many
// constructors only return after super(...)).
func (t *thisFlow) covered(code *classfile.Code) []insnSpan {
	var spans []insnSpan
	open, throws := false, false
	end := func() {
		if open && !throws {
			spans = spans[:len(spans)-1]
		}
		open, throws = false, false
	}
	for i, in := range code.Insns {
		if in.Op.IsPseudo() {
			continue
		}
		if t.local0[i] != valueSelf {
			end()
			continue
		}
		if !open {
			spans = append(spans, insnSpan{from: in})
			open = true
		}
		spans[len(spans)-1].to = in
		throws = throws || canThrow(in.Op)
	}
	end()
	return spans
}

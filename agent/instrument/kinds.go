package instrument

import (
	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// A kind is one kind of probe: the classes and methods that it wants, and what it
// inserts there. Each kind has a file of its own.
type kind interface {
	// wants reports whether the class may have something for it.
	wants(t target) bool
	// plan adds a step for each method concerned.
	plan(p *Plan) error
}

// kinds are all kinds, in the order in which they are planned and woven. The
// order is part of the result: handlers nest by it. Counts are not in it: they
// lie around all the others (count.go).
var kinds = [...]kind{
	dueTimes{},
	executions{},
	parking{},
	clones{},
	threadLocks{},
	lambdaArchive{},
	dispatches{},
	submissions{},
	executorsMade{},
	workers{},
	cancellations{},
	exceptionReads{},
	stageFailures{},
	constructors{},
	callSites{},
	mounts{},
	waits{},
	traces{},
	blocking{},
	monitors{},
}

// A step is what a kind inserts into one method.
type step interface {
	weave(p *Plan) error
	String() string // a line of the plan
}

// target is what is known of a class before it is parsed. Kinds get it by value, so
// a class that no kind wants costs no memory.
type target struct {
	Class string // internal name
	Kinds units.Kinds
	Mode  Mode

	access     uint16
	found      mentions
	hidden     bool
	filtered   bool        // the user's filters exclude the class
	submits    bool        // submissions are observed
	waits      bool        // waits are observed
	traces     bool        // the current span is
	sites      bool        // call sites are, and the class is one of the program's
	dispatcher bool        // see Input
	monitored  []Monitored // of this class
}

// mayInsert reports whether probes may be inserted now, as far as the mode and the
// user's filters go.
func (t *target) mayInsert() bool { return t.Mode != ModeStructure && !t.filtered }

// isTask reports whether the class itself is one.
func (t *target) isTask() bool { return t.Kinds&TaskKinds != 0 }

func (t *target) isInterface() bool { return t.access&classfile.AccInterface != 0 }

// wanted reports whether any kind may have something to do in the class.
func (t *target) wanted() bool {
	for _, k := range kinds {
		if k.wants(*t) {
			return true
		}
	}
	return false
}

// planSteps lets each kind add its steps.
func (p *Plan) planSteps() error {
	for _, k := range kinds {
		if !k.wants(p.target) {
			continue
		}
		if err := k.plan(p); err != nil {
			return err
		}
	}
	return nil
}

// eachCode calls f with the code of each method that choose picks. Abstract and
// native methods have none.
func (p *Plan) eachCode(choose func(m *classfile.Member) bool, f func(code *classfile.Code) error) error {
	for _, m := range p.class.Methods {
		if !choose(m) {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		if err := f(code); err != nil {
			return err
		}
	}
	return nil
}

func anyMethod(*classfile.Member) bool { return true }

func isStatic(m *classfile.Member) bool { return m.Access&classfile.AccStatic != 0 }

// signature is the name and the descriptor of the method that code belongs to.
func signature(code *classfile.Code) string { return code.Method().Name + code.Method().Descriptor }

package instrument

import (
	"fmt"
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/settings"
	"stackagent/internal/units"
)

// Mode says how much of a class may change now.
type Mode uint8

// The modes of weaving.
const (
	// ModeFull adds fields and code: at load, once the probes can run, and in
	// the retransformation of a class that got ModeStructure at load.
	ModeFull Mode = iota
	// ModeStructure adds the fields only: a class that is loaded before the
	// probes can run. Its other bytes stay.
	ModeStructure
	// ModeBodies adds code only: the retransformation of a class that was
	// loaded without the fields.
	ModeBodies
)

// String names the mode.
func (m Mode) String() string {
	switch m {
	case ModeFull:
		return "full"
	case ModeStructure:
		return "structure"
	case ModeBodies:
		return "bodies"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Input is one class on its way into the JVM.
type Input struct {
	Class    []byte               // the class file; not changed
	Work     *classfile.Workspace // where the plan lives until its next Reset; nil: in memory of its own
	Supers   Hierarchy
	Mode     Mode
	Platform bool // defined by the boot or the platform loader
	Hidden   bool // a hidden class, a lambda's for example

	// Of a loaded class, whose fields cannot change.
	Loaded bool
	Fields []string // of ours that it has, in their order

	BareSuper  bool // its superclass is a task, but was loaded without a field for the id
	Dispatcher bool // it executes the tasks of others: its calls report those whose classes could not be woven
}

func (in *Input) header() (classfile.Header, error) {
	if in.Work == nil {
		return classfile.ParseHeader(in.Class)
	}
	return in.Work.ParseHeader(in.Class)
}

func (in *Input) parse() (*classfile.Class, error) {
	if in.Work == nil {
		return classfile.Parse(in.Class)
	}
	return in.Work.Parse(in.Class)
}

// keeps reports whether all that matters is that a class keeps the fields it was loaded with.
func (in *Input) keeps() bool { return in.Mode == ModeStructure && len(in.Fields) > 0 }

// Plan is what is to be done to one class. It belongs to one goroutine.
type Plan struct {
	target
	AddFields []string         // see FieldTaskID
	Sites     int              // call sites that get probes
	Notes     []string         // what was expected in this class and not found
	Left      []*Refusal       // methods left as they are while the rest is woven
	Defined   []TaskDefinition // of the user's, those that fit a method of this class
	Executed  bool             // the class itself has a method that executes a task
	Found     []Found
	LoopCall  string // the method that a loop in it calls, as a task definition; "": none found

	in      Input
	options Options
	header  classfile.Header
	class   *classfile.Class
	steps   []step
	counts  []countPlan

	counted  []counted           // of counts, while they are woven
	caught   []*classfile.Member // methods with a handler for all that they throw
	insns    []*classfile.Insn   // that are being put together
	probes   []probeRef          // in the constant pool already
	woven    []byte
	unmarked bool // the numbers of some sites are not where SiteNumbers says
	failed   error
}

// String lists the plan, a line for each thing to do.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s kinds=%s mode=%s\n", p.Class, p.Kinds, p.Mode)
	for _, f := range p.AddFields {
		fmt.Fprintf(&b, "  field %s J\n", f)
	}
	for _, s := range p.steps {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	for i := range p.counts {
		fmt.Fprintf(&b, "  %s\n", &p.counts[i])
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	for _, r := range p.Left {
		fmt.Fprintf(&b, "  left: %s %s\n", r.Member, r.Reason)
	}
	return b.String()
}

func (p *Plan) empty() bool {
	return len(p.AddFields)+len(p.steps)+len(p.counts)+len(p.Notes)+len(p.Left)+len(p.Found) == 0
}

func (p *Plan) note(what string) { p.Notes = append(p.Notes, what) }

// Hidden reports whether the plan is for a hidden class.
func (p *Plan) Hidden() bool { return p.hidden }

// NewPlan works out what to do to a class. A nil plan without an error means:
// nothing, the class keeps its bytes. An error is a *Refusal.
func NewPlan(in Input, o Options) (*Plan, error) {
	p, err := newTaskPlan(in, o)
	if !o.Count || in.Mode == ModeStructure {
		return p, err
	}
	return addCounts(p, err, in)
}

// newTaskPlan is NewPlan without the counts.
func newTaskPlan(in Input, o Options) (*Plan, error) {
	header, err := in.header()
	if err != nil {
		return nil, refusal("", err, ReasonVersion)
	}
	if !Candidate(header, &o, in.Platform) || carriesVirtual(&in, header.Name) {
		return nil, nil
	}
	found, scanned := scanPool(in.Class)
	if found.probes {
		return nil, refuse(header.Name, ReasonAlreadyWoven, "it names %s", nameProbes)
	}
	kinds, err := ClassKinds(header, in.Supers, &o)
	if err != nil && !in.keeps() {
		return nil, err
	}
	if !o.Asked.Submissions {
		kinds &^= units.KindExecutor
	}
	t := newTarget(in, &o, header, kinds)
	t.found = found
	if scanned && kinds&(TaskKinds|units.KindExecutor) == 0 && !shaped(t.Class) && !in.keeps() && !t.wanted() {
		return nil, nil
	}
	p := &Plan{target: t, in: in, options: o, header: header}
	return p.fill()
}

func newTarget(in Input, o *Options, header classfile.Header, kinds units.Kinds) target {
	t := target{Class: header.Name, Kinds: kinds, Mode: in.Mode, access: header.Access, hidden: in.Hidden,
		filtered: o.excluded(javaName(header.Name), in.Platform), submits: o.Asked.Submissions, waits: o.Asked.Wait > 0, traces: o.Asked.Traces == settings.TracesAuto, dispatcher: in.Dispatcher,
		sites: o.Sites != nil && !in.Hidden && (o.everywhere || hasSites(header.Name, in.Platform))}
	if len(o.Monitored) > 0 {
		t.monitored = o.monitoredFor(header.Name)
	}
	if in.Platform {
		t.Kinds |= units.KindJDK
	}
	if in.Hidden {
		t.Kinds |= units.KindHidden
	}
	return t
}

// fill parses the class and works out what to do to it.
func (p *Plan) fill() (*Plan, error) {
	class, err := p.in.parse()
	if err != nil {
		return nil, refusal(p.Class, err, ReasonVersion)
	}
	p.class = class
	if p.Mode != ModeBodies {
		if err := p.planFields(); err != nil {
			return nil, err
		}
	}
	if err := p.planSteps(); err != nil {
		return nil, err
	}
	p.findLoopCall()
	if p.empty() {
		return nil, nil
	}
	return p, nil
}

package instrument

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackagent/agent/classfile"
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

	// Of a class that exists already, which can not get or lose fields.
	Loaded bool
	Fields []string // of ours that it has, in their order

	BareSuper bool // its superclass is a task, but was loaded without a field for the id
	StandIn   bool // it executes the tasks of others: its calls tell of those that could not be woven
}

// The names of the fields that hold ids, all of type J.
const (
	FieldTaskID  = "stackagent$id"    // in the topmost task class of a hierarchy, but for java.lang.Thread
	FieldClassID = "stackagent$class" // in java.lang.ClassValue$ClassValueMap, which each class may have one of

	FieldSubmitted  = "stackagent$submitted" // beside FieldTaskID
	FieldExecutorID = "stackagent$executor"  // in the topmost executor class of a hierarchy
	FieldBytecodes  = "stackagent$bytecodes" // in java.lang.Thread where it counts them and comes into sight before it is loaded

	FieldExecutorClass = "stackagent$executors" // beside FieldClassID
)

// The probes that start an execution. The second is for a method that is called
// by a bridge most of the time, which has started it already.
const (
	probeEnter     = "enter"
	probeCovariant = "enterCovariant"
)

// A MethodPlan is an execution method to be woven.
type MethodPlan struct {
	Name, Descriptor string
	Probe            string // called at its start: enter, or one that asks what the object is

	member *classfile.Member
	exits  string // the probe at its ends, in place of exit and exitThrow
}

// A ConstructorPlan is a constructor to be woven.
type ConstructorPlan struct {
	Descriptor string
	Created    int // calls of super(...) after which the creation is reported
	Ranges     int // stretches of code in which a failure is reported

	member *classfile.Member
	spans  []insnSpan        // the stretches
	supers []*classfile.Insn // the calls of super(...)

	measured    bool              // its construction is measured:
	delegations []*classfile.Insn // the calls of this(...)
	ends        []*classfile.Insn // the returns with this in local variable 0
}

// insnSpan is a stretch of code, its first and last instruction.
type insnSpan struct{ from, to *classfile.Insn }

// A MountPlan is mount or unmount of java.lang.VirtualThread, or a call inside it
// that leaves the carrier and comes back.
type MountPlan struct {
	Name  string // of the method
	Probe string // the probe called at its start, or before the call

	member *classfile.Member
	around *classfile.Insn // the call; nil: the start
	after  string          // the probe after the call
}

// Plan is what is to be done to one class. It belongs to one goroutine.
type Plan struct {
	Class        string // internal name
	Kinds        units.Kinds
	Mode         Mode
	AddFields    []string // fields to add, see FieldTaskID
	Executions   []MethodPlan
	Constructors []ConstructorPlan
	Clones       []ClonePlan
	Mounts       []MountPlan
	Slots        []SlotPlan
	Handovers    []HandoverPlan
	Asks         []AskPlan
	Sites        []SitePlan
	Counts       []CountPlan
	Notes        []string   // what was expected in this class and not found
	Left         []*Refusal // what of the class is left as it is while the rest is woven

	Defined []TaskDefinition // of the user's, those that fit a method of this class

	isHidden    bool
	standIns    []standIn
	sites       Sites
	measure     bool // constructions
	asks        bool // exceptions are followed to who asks for them
	everywhere  bool // see Options
	class       *classfile.Class
	archive     *classfile.Insn // where a lambda's class is looked for in the JVM's archive
	archiveCode *classfile.Code
	counted     []counted         // of Counts
	insns       []*classfile.Insn // that are being put together
	probes      []probeRef        // looked up already
	woven       []byte
	failed      error
}

// String lists the plan, a line for each thing to do.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s kinds=%s mode=%s\n", p.Class, p.Kinds, p.Mode)
	for _, f := range p.AddFields {
		fmt.Fprintf(&b, "  field %s J\n", f)
	}
	for _, m := range p.Executions {
		fmt.Fprintf(&b, "  execution %s%s %s\n", m.Name, m.Descriptor, m.Probe)
	}
	for _, c := range p.Constructors {
		fmt.Fprintf(&b, "  constructor %s created=%d failed-ranges=%d\n", c.Descriptor, c.Created, c.Ranges)
	}
	for _, c := range p.Clones {
		fmt.Fprintf(&b, "  clone in %s%s cloned=%d\n", c.Name, c.Descriptor, len(c.calls))
	}
	for _, m := range p.Mounts {
		if m.around != nil {
			fmt.Fprintf(&b, "  around the switch in %s %s %s\n", m.Name, m.Probe, m.after)
			continue
		}
		fmt.Fprintf(&b, "  start of %s%s %s\n", m.Name, m.member.Descriptor, m.Probe)
	}
	for _, s := range p.Slots {
		fmt.Fprintf(&b, "  slot in %s\n", s.Descriptor)
	}
	for _, s := range p.Sites {
		fmt.Fprintf(&b, "  sites in %s%s %d\n", s.Name, s.Descriptor, s.Places)
	}
	for _, h := range p.Handovers {
		fmt.Fprintf(&b, "  hand-over %s%s %s\n", h.Name, h.Descriptor, h.Probe)
	}
	for _, a := range p.Asks {
		fmt.Fprintf(&b, "  asked in %s%s %d\n", a.Name, a.Descriptor, len(a.at))
	}
	if p.archive != nil {
		b.WriteString("  no lambdas from the archive\n")
	}
	for _, s := range p.standIns {
		fmt.Fprintf(&b, "  call of %s in %s%s\n", s.probe, s.member.Name, s.member.Descriptor)
	}
	for i := range p.Counts {
		fmt.Fprintf(&b, "%s\n", p.Counts[i].describe())
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
	return len(p.AddFields)+len(p.Executions)+len(p.Constructors)+len(p.Clones)+len(p.Mounts)+len(p.Slots)+len(p.Handovers)+len(p.Asks)+len(p.Sites)+len(p.Notes)+len(p.Counts)+len(p.Left)+len(p.standIns) == 0 &&
		p.archive == nil
}

// Hidden tells whether the plan is for a hidden class.
func (p *Plan) Hidden() bool { return p.isHidden }

// leaveAlone are the classes that are never woven; the package comment says
// why.
func leaveAlone(class string) bool {
	switch class {
	case nameObject, nameProbes, nameHandovers, nameConstructions, nameContinuation:
		return true
	}
	return strings.HasSuffix(class, "module-info") || strings.HasSuffix(class, "package-info")
}

// Candidate tells from the header alone whether a class can get a plan at all.
// It needs no hierarchy; true promises nothing.
func Candidate(h classfile.Header, o *Options, platform bool) bool {
	if shaped(h.Name) {
		return true
	}
	return h.Access&classfile.AccModule == 0 && !leaveAlone(h.Name) && !o.excluded(javaName(h.Name), platform)
}

// NewPlan works out what to do to a class. A nil plan without an error means:
// nothing, the class keeps its bytes. An error is a *Refusal.
func NewPlan(in Input, o Options) (*Plan, error) {
	p, err := newTaskPlan(in, o)
	if !o.Count || in.Mode == ModeStructure {
		return p, err
	}
	return addCounts(p, err, in)
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

// newTaskPlan is NewPlan without the counting.
func newTaskPlan(in Input, o Options) (*Plan, error) {
	header, err := in.header()
	if err != nil {
		return nil, refusal("", err, ReasonVersion)
	}
	if !Candidate(header, &o, in.Platform) {
		return nil, nil
	}
	filtered := o.excluded(javaName(header.Name), in.Platform)
	found, scanned := scanPool(in.Class)
	if found.probes {
		return nil, refuse(header.Name, ReasonAlreadyWoven, "it names %s", nameProbes)
	}
	kinds, err := ClassKinds(header, in.Supers, &o)
	if err != nil && !in.keeps() {
		return nil, err
	}
	if !o.Submissions {
		kinds &^= units.KindExecutor
	}
	sites := wantsSites(header, in, &o, filtered)
	if scanned && kinds&(TaskKinds|units.KindExecutor) == 0 && !shaped(header.Name) && !(o.Submissions && asks[header.Name] != nil) && !guardable(header, in, &found) && !sites && !in.StandIn && !in.keeps() {
		return nil, nil
	}
	p := &Plan{Class: header.Name, Kinds: kinds, Mode: in.Mode, isHidden: in.Hidden}
	if sites {
		p.sites, p.everywhere = o.Sites, o.everywhere
	}
	if in.Platform {
		p.Kinds |= units.KindJDK
	}
	if in.Hidden {
		p.Kinds |= units.KindHidden
	}
	return p.fill(header, in, &o, filtered)
}

// keeps tells whether all that matters is that a class keeps the fields it was loaded with.
func (in *Input) keeps() bool { return in.Mode == ModeStructure && len(in.Fields) > 0 }

// guardable tells whether a class that is no task can have methods for
// the guarded probes: a subclass must be possible.
func guardable(h classfile.Header, in Input, found *mentions) bool {
	return found.execution() && h.Access&classfile.AccFinal == 0 && !in.Hidden
}

func (p *Plan) fill(h classfile.Header, in Input, o *Options, filtered bool) (*Plan, error) {
	class, err := in.parse()
	if err != nil {
		return nil, refusal(p.Class, err, ReasonVersion)
	}
	p.class = class
	if p.Mode != ModeBodies {
		if err := p.planFields(h, in, o, filtered); err != nil {
			return nil, err
		}
	}
	if err := p.planPlatform(h.Name); err != nil {
		return nil, err
	}
	if p.Mode != ModeStructure && !filtered {
		if err := p.planCode(h, in, o); err != nil {
			return nil, err
		}
		if in.StandIn {
			if err := p.planStandIns(); err != nil {
				return nil, err
			}
		}
	}
	if p.empty() {
		return nil, nil
	}
	return p, nil
}

// planPlatform lists what the probes need, whatever is filtered. A lambda's way
// into the JVM is changed before the probes can run: it calls none.
func (p *Plan) planPlatform(class string) error {
	switch {
	case class == nameThread && p.Mode != ModeStructure:
		return p.planSlots()
	case class == nameLambdaArchive:
		return p.planArchive()
	}
	return nil
}

// planFields lists the fields to add. A field that is there already stays: the
// bytes of a retransformation may come from the JVM's own copy of the class.
func (p *Plan) planFields(h classfile.Header, in Input, o *Options, filtered bool) error {
	want := in.Fields
	if !in.Loaded {
		want = p.newFields(h, in, o, filtered)
	}
	for _, name := range want {
		there, err := p.hasField(name)
		if err != nil {
			return err
		}
		if !there {
			p.AddFields = append(p.AddFields, name)
		}
	}
	return nil
}

// newFields are the fields for a class that is being loaded.
func (p *Plan) newFields(h classfile.Header, in Input, o *Options, filtered bool) []string {
	var want []string
	if !filtered && p.topmost(h, in) && h.Name != nameThread {
		want = append(want, FieldTaskID)
	}
	if h.Name == nameClassValues {
		want = append(want, FieldClassID)
	}
	if o.Count && h.Name == nameThread {
		want = append(want, FieldBytecodes)
	}
	if o.Submissions {
		want = append(want, p.submissionFields(h, in.Supers, want, filtered)...)
	}
	return want
}

func (p *Plan) hasField(name string) (bool, error) {
	for _, f := range p.class.Fields {
		if f.Name != name {
			continue
		}
		if f.Descriptor != "J" || f.Access&classfile.AccStatic != 0 {
			return false, refuse(p.Class, ReasonFieldConflict, "%s %s", f.Descriptor, f.Name)
		}
		return true, nil
	}
	return false, nil
}

// topmost tells whether the class is the one of its hierarchy that holds the
// id: a task whose superclass is none, or has no room for it. The supertypes are
// known to be known.
func (p *Plan) topmost(h classfile.Header, in Input) bool {
	if p.Kinds&TaskKinds == 0 || h.Access&classfile.AccInterface != 0 {
		return false
	}
	if in.Loaded {
		return h.Name == nameThread || slices.Contains(in.Fields, FieldTaskID)
	}
	k, _ := superKinds(h.Super, in.Supers)
	return k&TaskKinds == 0 || in.BareSuper
}

// refusal turns an error of the classfile package into a typed refusal. What is
// not supported depends on where it was met: the version of a class when it is
// parsed, subroutines when code is decoded.
func refusal(class string, err error, whatUnsupported Reason) *Refusal {
	r := &Refusal{Reason: ReasonBadClass, Class: class, Detail: err.Error(), Err: err}
	var unsupported *classfile.UnsupportedError
	var large *classfile.TooLargeError
	var full *classfile.PoolFullError
	switch {
	case errors.As(err, &unsupported):
		r.Reason = whatUnsupported
	case errors.As(err, &large):
		r.Reason = ReasonMethodSize
	case errors.As(err, &full):
		r.Reason = ReasonPoolFull
	}
	return r
}

package agent

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"stackagent/agent/classfile"
	"stackagent/agent/instrument"
	"stackagent/agent/jimage"
	"stackagent/internal/taskdef"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// weaver weaves the classes on their way into the JVM.
type weaver struct {
	options   instrument.Options
	asked     []string                   // options.Tasks as the user gave them: a preset is one
	sites     *siteTable                 // nil: call sites are not observed
	hierarchy *instrument.ImageHierarchy // of the JDK's own classes
	woven     atomic.Uint64

	recaller *recaller // nil: every class is woven anew

	found func([]instrument.Found) // takes what a plan does for monitors

	works sync.Pool // of *classfile.Workspace: the memory of plans

	mu       sync.Mutex
	refusals map[string]*wire.Refusal
	customs  names               // see remember
	fitted   map[string]bool     // of the user's definitions, those that some method fits
	idle     []instrument.Filter // have matched no class so far
	loops    map[string]string   // what the loops of classes (internal names) call, see instrument.Plan.LoopCall
}

// newWeaver makes a weaver; class reads a class of the JDK by its internal name.
func newWeaver(options instrument.Options, class func(string) ([]byte, error)) *weaver {
	return &weaver{
		options:   options,
		hierarchy: instrument.NewImageHierarchy(class, options),
		refusals:  make(map[string]*wire.Refusal),
		fitted:    make(map[string]bool),
		idle:      options.Filters(),
		loops:     make(map[string]string),
	}
}

// woven is what became of a class.
type woven struct {
	bytes    []byte           // nil: it keeps its own
	plan     *instrument.Plan // nil: nothing was to be done, or it was done in an earlier run
	executed bool             // as in the plan
	loopCall string           // as in the plan
	sites    *classSites      // nil: call sites are not observed
	whole    bool             // all that was asked for was done
}

// supertypes answers from what the C side knows of the supertypes of one class,
// then from the JDK's image.
type supertypes struct {
	request *jvmti.ClassRequest
	image   instrument.Hierarchy
	custom  func(class string) units.Kinds // KindCustom, or none
}

// Kinds implements instrument.Hierarchy.
func (s supertypes) Kinds(class string) (units.Kinds, bool) {
	for _, t := range s.request.Supertypes {
		if t.Name == class && t.Known {
			return t.Kinds | s.custom(class), true
		}
	}
	return s.image.Kinds(class)
}

// Transform implements part of jvmti.Handler.
func (w *weaver) Transform(r *jvmti.ClassRequest) jvmti.ClassAnswer {
	in := w.input(r)
	w.filter(in, r.Name)
	key, keeps := w.recaller.key(&in, r)
	keeps = keeps && !w.options.Watches(r.Name)
	if keeps {
		if old, ok := w.recaller.recall(key, r.Bytes, w.newSites(), strings.ReplaceAll(r.Name, "/", ".")); ok {
			return w.answer(&old, r)
		}
	}
	work, _ := w.works.Get().(*classfile.Workspace)
	if work == nil {
		work = new(classfile.Workspace)
	}
	in.Work = work
	got := w.weave(in, r.Name)
	answer := w.answer(&got, r)
	if keeps {
		w.recaller.keep(key, r.Bytes, &got)
	}
	work.Reset() // after a panic this is not reached, and the memory is not reused
	w.works.Put(work)
	return answer
}

// input is what a request says of its class.
func (w *weaver) input(r *jvmti.ClassRequest) instrument.Input {
	in := instrument.Input{
		Class:    r.Bytes,
		Supers:   supertypes{r, w.hierarchy, w.customKind},
		Mode:     instrument.ModeFull,
		Platform: r.Platform,
		Hidden:   r.Hidden,

		Loaded:     r.Loaded,
		Fields:     r.Fields,
		BareSuper:  r.BareSuper,
		Dispatcher: r.Dispatcher,
	}
	switch r.Mode {
	case jvmti.ModeStructure:
		in.Mode = instrument.ModeStructure
	case jvmti.ModeBodies:
		in.Mode = instrument.ModeBodies
	}
	return in
}

// answer counts a class and makes the answer to the JVM.
func (w *weaver) answer(got *woven, r *jvmti.ClassRequest) jvmti.ClassAnswer {
	w.rememberLoop(got.executed, got.loopCall, r)
	if got.bytes == nil {
		return jvmti.ClassAnswer{}
	}
	w.woven.Add(1)
	return jvmti.ClassAnswer{Woven: got.bytes, Label: nameOf(r, got.plan)}
}

// Named reports whether the options name the class (Java name) as a task.
func (w *weaver) Named(class string) bool { return w.options.NamesClass(class) }

// remember keeps the names of the classes that are tasks by the user's choice: their
// subclasses are tasks too, and the JVM does not know that.
func (w *weaver) remember(p *instrument.Plan) {
	if p == nil || p.Kinds&units.KindCustom == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range p.Defined {
		w.fitted[d.String()] = true
	}
	if !p.Hidden() {
		w.customs.add(p.Class)
	}
}

// rememberLoop keeps what the loop of a task class calls. A class inherits the loop with the method.
func (w *weaver) rememberLoop(executed bool, call string, r *jvmti.ClassRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if executed {
		if call != "" && len(w.loops) < maxNames {
			w.loops[r.Name] = call
		}
		return
	}
	for _, t := range r.Supertypes {
		if call := w.loops[t.Name]; call != "" && len(w.loops) < maxNames {
			w.loops[r.Name] = call
		}
	}
}

// loopCall is what the loop of a class (Java name) calls, "" if no such loop is known.
func (w *weaver) loopCall(class string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.loops[strings.ReplaceAll(class, ".", "/")]
}

// filter notes which of the user's filters match the class (internal name).
func (w *weaver) filter(in instrument.Input, name string) {
	if len(w.options.Include)+len(w.options.Exclude) == 0 {
		return
	}
	name = strings.ReplaceAll(name, "/", ".")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = slices.DeleteFunc(w.idle, func(f instrument.Filter) bool { return f.Fits(name, in.Platform) })
}

// The refusals of options that matched nothing: most often they are misspelt.
const (
	reasonUnfitted = taskdef.Unmatched
	reasonIncludes = "include= matches no class of the program that could have tasks"
	reasonExcludes = "exclude= matches no class that could have tasks"
)

// namedTasks is how many definitions that match nothing are named.
const namedTasks = 5

// unfitted reports the user's definitions and filters that matched nothing.
func (w *weaver) unfitted() {
	w.mu.Lock()
	idle := slices.Clone(w.idle)
	w.mu.Unlock()
	for _, f := range idle {
		reason := reasonExcludes
		if f.Include {
			reason = reasonIncludes
		}
		w.count(wire.Refusal{Reason: reason, Count: 1, Sample: f.Glob})
	}
	var tasks []string
	w.mu.Lock()
	for _, value := range w.asked {
		if !slices.ContainsFunc(taskdef.Expand(value), func(d string) bool { return w.fitted[d] }) {
			tasks = append(tasks, value)
		}
	}
	w.mu.Unlock()
	if len(tasks) > 0 {
		w.count(wire.Refusal{Reason: reasonUnfitted, Count: uint64(len(tasks)), Sample: strings.Join(tasks[:min(len(tasks), namedTasks)], ", ")})
	}
}

// customKind is KindCustom for a class (internal name) that is known to be a
// task by the user's choice.
func (w *weaver) customKind(class string) units.Kinds {
	if len(w.options.Tasks) == 0 {
		return 0
	}
	w.mu.Lock()
	known := w.customs.contains(class)
	w.mu.Unlock()
	if known || w.options.NamesClass(strings.ReplaceAll(class, "/", ".")) {
		return units.KindCustom
	}
	return 0
}

// weave returns the class's new bytes, nil if it keeps its own. A loaded class keeps at
// least the fields that it has: without them the JVM refuses the redefinition, which may
// be another agent's.
func (w *weaver) weave(in instrument.Input, name string) woven {
	got, err := w.weaveAll(in, name)
	if err == nil {
		return got
	}
	w.refuse(err, name)
	if in.Mode == instrument.ModeFull && len(in.Fields) > 0 {
		in.Mode = instrument.ModeStructure
		got, _ = w.weaveAll(in, name) // the error is reported already
	}
	got.whole = false
	return got
}

// newSites numbers the sites of one class.
func (w *weaver) newSites() *classSites {
	if w.sites == nil {
		return nil
	}
	return w.sites.of(len(w.options.Tasks) > 0)
}

// weaveAll weaves a class; if that fails with counts of instructions, without them.
func (w *weaver) weaveAll(in instrument.Input, name string) (woven, error) {
	options := w.options
	for {
		sites := w.newSites()
		if sites != nil {
			options.Sites = sites
		}
		plan, err := instrument.NewPlan(in, options)
		w.remember(plan)
		var bytes []byte
		if err == nil && plan != nil {
			bytes, err = plan.Weave()
		}
		switch {
		case err == nil && plan == nil:
			return woven{}, nil
		case err == nil:
			if len(plan.Found) > 0 && w.found != nil {
				w.found(plan.Found)
			}
			for _, left := range plan.Left {
				w.refuse(left, name)
			}
			return woven{bytes, plan, plan.Executed, plan.LoopCall, sites, options.Count == w.options.Count}, nil
		case !options.Count:
			return woven{}, err
		}
		w.refuseAs("bytecodes of a class not counted: "+reasonOf(err), name)
		options.Count = false
	}
}

// nameOf names a lambda that is a task after its host class and the method it calls.
func nameOf(r *jvmti.ClassRequest, plan *instrument.Plan) string {
	if !r.Hidden || !strings.Contains(r.Name, "$$Lambda") || plan.Kinds&instrument.TaskKinds == 0 {
		return ""
	}
	target, _ := instrument.LambdaTarget(r.Bytes)
	return instrument.LambdaName(r.Name, target)
}

func (w *weaver) refuse(err error, class string) {
	var refusal *instrument.Refusal
	if errors.As(err, &refusal) && refusal.Member != "" {
		class += "." + refusal.Member
	}
	w.refuseAs(reasonOf(err), class)
}

func (w *weaver) refuseAs(reason, sample string) {
	w.count(wire.Refusal{Reason: reason, Count: 1, Sample: strings.ReplaceAll(sample, "/", ".")})
}

func reasonOf(err error) string {
	var refusal *instrument.Refusal
	if errors.As(err, &refusal) {
		return string(refusal.Reason)
	}
	return err.Error()
}

func (w *weaver) count(r wire.Refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sum := w.refusals[r.Reason]; sum != nil {
		sum.Count += r.Count
		return
	}
	w.refusals[r.Reason] = &r
}

// takeRefusals returns the refusals since the last call, by reason.
func (w *weaver) takeRefusals() []wire.Refusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []wire.Refusal
	for _, r := range w.refusals {
		list = append(list, *r)
	}
	clear(w.refusals)
	return list
}

// lazyImage opens the JDK's class image at its first use: the C side knows most
// supertypes, and the index of the image takes a few MiB.
func lazyImage() func(name string) ([]byte, error) {
	open := sync.OnceValues(openImage)
	return func(name string) ([]byte, error) {
		image, err := open()
		if err != nil {
			return nil, err
		}
		return image.Class(name)
	}
}

// openImage opens the class image of the JDK that this process runs, found by
// its libjvm.so (it is too early to read the property java.home).
func openImage() (*jimage.Image, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, fmt.Errorf("find the JVM's library: %w", err)
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		path := lines.Text()
		if !strings.HasSuffix(path, "/libjvm.so") {
			continue
		}
		path = path[strings.IndexByte(path, '/'):]
		modules := filepath.Join(filepath.Dir(filepath.Dir(path)), "modules")
		image, err := jimage.Open(modules)
		if err != nil {
			return nil, fmt.Errorf("read the JDK's classes: %w", err)
		}
		return image, nil
	}
	return nil, errors.New("find the JVM's library: no libjvm.so is mapped")
}

package live

import (
	"cmp"
	"strconv"
	"strings"

	"stackagent/granularity/unit"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	roles "stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Limits of a JVM. What goes beyond is counted as "others", or has no name.
const (
	maxClasses   = 200     // flows of classes
	maxExecutors = 64      // flows of executors
	maxClassIDs  = 1 << 15 // descriptions
	maxSites     = 4096
	maxThreads   = 16384 // that live
	maxLoops     = 65536 // tasks that are the loops of threads
	maxName      = 200   // characters

	// maxFlows and maxSlots bound all JVMs of the shadow together.
	maxFlows = 32 << 10
)

// Others is the name of what has no row of its own.
const Others = "others"

// class is what is known of a task class.
type class struct {
	name   string
	role   unit.Role
	jdk    bool
	thread bool
	named  bool   // the user named its method
	lambda bool   // its tasks get a better name by the first place in its host that makes them
	bySite bool   // of the JDK: its tasks are named after the place that makes them
	site   uint32 // then: the only one so far
	sites  bool   // there are several
	flow   *flow  // nil: none yet, or bySite
}

// flowKey tells flows apart.
type flowKey struct {
	class, site uint32 // of a class
	executor    int64  // of an executor; see Executor.ID
}

// thread is a Java thread that lives.
type thread struct {
	id       uint32
	name     string
	javaID   int64
	osID     int32
	group    string
	executor uint32

	loop  uint64    // the task that is its loop, as far as known
	outer [2]uint64 // see finds
	held  held
	// The tasks that it was executing at the last report, and at the one before, and where the
	// former was submitted.
	open, before opened
	site         uint32
}

// label is the thread's name with its Java id.
func (t *thread) label() string {
	if t.javaID == 0 {
		return t.name
	}
	return t.name + "#" + strconv.FormatInt(t.javaID, 10)
}

// name makes a name fit for a row: hostile ones may be long.
func name(s string) string { return text.Cut(s, maxName) }

func (j *jvm) describeClass(c *wire.Class) {
	if c.ID >= maxClassIDs {
		return
	}
	for int(c.ID) >= len(j.classes) {
		j.classes = append(j.classes, class{})
	}
	x := &j.classes[c.ID]
	jdk := roles.IsJDK(c.Name, c.Kinds)
	*x = class{name: name(c.Name), role: roles.RoleOf(c.Name, c.Kinds, true), jdk: jdk, flow: x.flow,
		thread: c.Kinds&units.KindThread != 0, named: c.Kinds&units.KindCustom != 0}
	x.bySite = jdk && x.role != unit.Loop && x.role != unit.Wrapper && !x.thread
	x.lambda = callsite.TitleOf(&session.Class{Name: c.Name, Kinds: c.Kinds}, &session.Site{Class: hostOf(c.Name), Line: 1}) != ""
	if x.flow != nil {
		x.flow.name = x.name
	}
}

// hostOf is the class that a lambda is in.
func hostOf(class string) string {
	host, _, _ := strings.Cut(class, "$$Lambda")
	return host
}

// titled gives the tasks of a lambda their name.
func (c *class) titled(s *store.Site) {
	if s == nil || s.Class != hostOf(c.name) {
		return
	}
	c.lambda = false
	c.name = name(cmp.Or(callsite.TitleOf(&session.Class{Name: c.name}, s), c.name))
	if c.flow != nil {
		c.flow.name = c.name
	}
}

var unknownClass = class{name: "(classes whose description was lost)"}

func (j *jvm) class(id uint32) *class {
	if uint64(id) < uint64(len(j.classes)) {
		return &j.classes[id]
	}
	return &unknownClass
}

// flowOf is the flow of a class, or of the tasks of a class that a site makes.
func (j *jvm) flowOf(id uint32, task uint64) *flow {
	c := j.class(id)
	if c.bySite {
		return j.flowAt(id, j.siteOf(c, task))
	}
	if c.flow == nil {
		if c == &unknownClass {
			return j.otherClasses()
		}
		c.flow = j.newClassFlow(flowKey{class: id}, cmp.Or(c.name, roles.UnknownClass(id)))
	}
	return c.flow
}

// flowAt is the flow of the tasks of a class of the JDK that a site makes.
func (j *jvm) flowAt(id, site uint32) *flow {
	title := j.class(id).name
	if s := j.sites[site]; s != nil && !roles.IsJDK(s.Class, 0) {
		title = name(callsite.Title(s))
	} else {
		site = 0
	}
	key := flowKey{class: id, site: site}
	if f := j.bySite[key]; f != nil {
		return f
	}
	f := j.newClassFlow(key, title)
	if f != j.restOfClasses {
		j.bySite[key] = f
	}
	return f
}

func (j *jvm) newClassFlow(key flowKey, title string) *flow {
	if len(j.classFlows) >= maxClasses || !j.live.flows.take() {
		return j.otherClasses()
	}
	j.flows++
	f := &flow{name: title, key: key}
	j.classFlows = append(j.classFlows, f)
	return f
}

func (j *jvm) otherClasses() *flow {
	if j.restOfClasses == nil {
		j.restOfClasses = &flow{name: Others}
	}
	return j.restOfClasses
}

// Ids of executors that are none.
const (
	otherExecutors = 0
	noExecutor     = -1 // threads started for tasks, or not known
)

func (j *jvm) executorFlow(id uint32) *flow {
	if to := j.behind[id]; to != 0 {
		id = to
	}
	key := flowKey{executor: int64(id)}
	if id == 0 {
		key.executor = noExecutor
	}
	if f := j.executorFlows[key.executor]; f != nil {
		return f
	}
	if len(j.executorFlows) >= maxExecutors && key.executor != noExecutor || !j.live.flows.take() {
		key.executor = otherExecutors
		if f := j.executorFlows[key.executor]; f != nil {
			return f
		}
	} else {
		j.flows++
	}
	f := &flow{key: key}
	j.executorFlows[key.executor] = f
	return f
}

// passesOn takes note that a task given to one executor was given on to another: executor from only stands before it, as the
// objects of Executors.newSingleThreadExecutor do, and counts as the other.
func (j *jvm) passesOn(from *flow, to uint32) {
	id := uint32(max(0, from.key.executor))
	if id == 0 || to == 0 || id == to || from.workers || len(j.behind) >= maxExecutors {
		return
	}
	real := j.executorFlow(to)
	if real == from || real.key.executor != int64(to) {
		return
	}
	j.behind[id] = to
	delete(j.executorFlows, from.key.executor)
	real.include(from)
	for _, f := range j.allClasses() {
		if f.home == from {
			f.home = real
		}
	}
	for i := range j.pending.slots {
		if j.pending.slots[i].pool == from {
			j.pending.slots[i].pool = real
		}
	}
	for i := range from.window {
		if w := real.at(from.window[i].epoch * windowSeconds); w != nil {
			w.merge(&from.window[i])
		}
	}
}

func (j *jvm) describeThread(t *wire.Thread) {
	if t.End != 0 {
		j.threadEnded(t)
		return
	}
	x := j.threads[t.ID]
	if x == nil {
		if t.Virtual || len(j.threads) >= maxThreads {
			return
		}
		x = &thread{id: t.ID}
		j.threads[t.ID] = x
	}
	x.name, x.javaID, x.osID, x.group = name(t.Name), t.JavaID, t.OSID, t.Group
	if id := int64(t.Executor); id != 0 {
		x.executor = t.Executor
		j.executorFlow(t.Executor).workers = true
		if j.threadNames[id] == "" && len(j.threadNames) < maxThreads {
			j.threadNames[id] = callsite.SharedName(map[string]uint64{x.name: 1})
		}
	}
	if t.OSID != 0 && !t.Virtual {
		j.cpu.kinds[t.OSID] = cpuKind(session.JavaKind(t.Name, t.Group))
	}
}

func (j *jvm) threadEnded(t *wire.Thread) {
	if x := j.threads[t.ID]; x != nil {
		delete(j.threads, t.ID)
		if j.lastThread == x {
			j.lastThread = nil
		}
	}
	if t.OSID != 0 && !t.Virtual {
		j.cpu.ended(t.OSID, t.CPU)
	}
}

func (j *jvm) describeSite(s *wire.Site) {
	if len(j.sites) >= maxSites && j.sites[s.ID] == nil {
		return
	}
	j.sites[s.ID] = &store.Site{ID: s.ID, Class: name(s.Class), Method: name(s.Method), File: name(s.File), Line: s.Line, Calls: name(s.Calls), Function: name(s.Function)}
}

func (j *jvm) describeExecutor(e *wire.Executor) {
	if len(j.executors) >= maxSites && j.executors[e.ID] == nil {
		return
	}
	x := store.Executor{ID: e.ID, Class: name(e.Class), Name: name(e.Name), MadeIn: name(e.MadeIn), File: name(e.File), Line: e.Line}
	if before := j.executors[e.ID]; before != nil {
		x = x.After(*before)
	}
	j.executors[e.ID] = &x
}

// siteTitle is where something is submitted; "": not known.
func (j *jvm) siteTitle(id uint32) string {
	if s := j.sites[id]; s != nil {
		return name(s.Class + "." + s.Method + siteLine(s))
	}
	return ""
}

func siteLine(s *store.Site) string {
	if place := callsite.Place(s.File, s.Line); place != "" {
		return " (" + place + ")"
	}
	return ""
}

// sitesOf remembers for tasks of the JDK which site made them. A later task takes the place
// of an earlier one: the memory is bounded, and a name that is forgotten is the class's own.
const siteCache = 8192

type siteOf struct {
	task uint64
	site uint32
}

func (j *jvm) rememberSite(c *class, task uint64, site uint32) {
	if site == 0 {
		return
	}
	if c.site == 0 {
		c.site = site
	}
	c.sites = c.sites || c.site != site
	if j.made == nil {
		j.made = make([]siteOf, siteCache)
	}
	j.made[task%siteCache] = siteOf{task, site}
}

// siteOf is the site that made a task. An execution may come before the creation of its task: if all tasks of
// the class are made in one place, it is that.
func (j *jvm) siteOf(c *class, task uint64) uint32 {
	if j.made != nil {
		if m := j.made[task%siteCache]; m.task == task {
			return m.site
		}
	}
	if c.sites {
		return 0
	}
	return c.site
}

// recall reads the names that earlier batches of the session brought: the shadow was started anew.
func (j *jvm) recall(f *store.Folder) {
	// A damaged part only leaves names out; who reads the session reports it.
	_, _ = f.ReadClasses(func(c *store.Class) {
		kinds, _ := units.ParseKinds(c.Kinds)
		j.describeClass(&wire.Class{ID: c.ID, Name: c.Name, Kinds: kinds})
	})
	_, _ = f.ReadThreads(func(t *store.Thread) {
		x := wire.Thread{ID: t.ID, JavaID: t.JavaID, OSID: t.OSID, Name: t.Name, Group: t.Group, Virtual: t.Virtual, Executor: t.Executor}
		if t.EndNs != nil {
			x.End = 1
		}
		j.describeThread(&x)
	})
	_, _ = f.ReadExecutors(func(e *store.Executor) { j.describeExecutor((*wire.Executor)(e)) })
	_, _ = f.ReadSites(func(s *store.Site) { j.describeSite((*wire.Site)(s)) })
}

package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Allocated is what was allocated, estimated from sampled objects.
type Allocated struct {
	Bytes   int64            `json:"bytes"`   // in all
	Samples int64            `json:"samples"` // objects that it is estimated from: of n, the relative standard error is 1/sqrt(n)
	Classes []AllocatedClass `json:"classes"` // most first; of equal ones by name
	index   map[string]int   // by class
}

// AllocatedClass is what the tasks of a class allocate.
type AllocatedClass struct {
	Class       string `json:"class"` // "": outside of tasks
	Bytes       int64  `json:"bytes"` // that they allocate
	Samples     int64  `json:"samples"`
	Tasks       int64  `json:"tasks"`                       // executions of the class
	Locals      int64  `json:"thread_local_bytes"`          // of Bytes: initial values of thread locals
	Site        string `json:"site,omitempty"`              // where most of them are allocated; "": not known
	SiteBytes   int64  `json:"site_bytes"`                  // of Bytes, allocated there
	Of          int64  `json:"of_bytes"`                    // what all allocate
	OneTaskEach bool   `json:"one_task_a_thread,omitempty"` // each of its threads is started for one task
}

// leastSamples is from how many samples an estimate is said: with 30 it is at most 20 % off in two of three cases.
const leastSamples = 30

func allocated(s *search) *Finding {
	if a := s.Allocated; a != nil && a.Samples >= leastSamples {
		return &Finding{Evidence: a}
	}
	return nil
}

func (e *Allocated) sentence(*Finding) string {
	var parts []string
	for i := range e.Classes {
		c := &e.Classes[i]
		if c.Samples < leastSamples || len(parts) == maxNamed {
			continue
		}
		what := units.FormatPercent(float64(c.Bytes) / float64(max(1, e.Bytes)))
		where := "outside of tasks"
		if c.Class != "" {
			where = "in " + readable(c.Class)
		}
		parts = append(parts, what+" "+where+c.detail())
	}
	if len(parts) == 0 {
		return fmt.Sprintf("~%s were allocated. No class has enough samples to say how much of it is its own.", units.FormatBytes(e.Bytes))
	}
	return fmt.Sprintf("~%s were allocated: %s.", units.FormatBytes(e.Bytes), text.AllOf(parts))
}

// detail says how much a task allocates and where most of it, in brackets.
func (c *AllocatedClass) detail() string {
	var list []string
	if c.Tasks > 0 {
		list = append(list, fmt.Sprintf("~%s each", units.FormatBytes(c.Bytes/c.Tasks)))
	}
	if c.Site != "" {
		list = append(list, fmt.Sprintf("%s of it at %s", units.FormatPercent(float64(c.SiteBytes)/float64(max(1, c.Bytes))), c.Site))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// ThreadLocals is that threads which run one task each make new values of thread locals for it.
type ThreadLocals struct {
	AllocatedClass
}

func threadLocals(s *search) (list []Finding) {
	if s.Allocated == nil || s.Units == nil {
		return nil
	}
	for _, c := range s.Allocated.Classes {
		if c.Class != "" && c.OneTaskEach && c.Samples >= leastSamples && float64(c.Locals) >= s.t.Locals*float64(s.Allocated.Bytes) {
			list = append(list, Finding{Class: c.Class, Evidence: &ThreadLocals{c}})
		}
	}
	return list[:min(len(list), maxNamed)]
}

func (e *ThreadLocals) title(*Finding) string {
	return fmt.Sprintf("Each %s makes its own values of thread locals: ~%s, %s of all that was allocated", readable(e.Class), units.FormatBytes(e.Locals), units.FormatPercent(float64(e.Locals)/float64(max(1, e.Of))))
}

func (e *ThreadLocals) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *ThreadLocals) happened() string {
	s := fmt.Sprintf("A thread local has a value for each thread, and each of these threads runs one task: nothing is used a second time. That is ~%s a task", units.FormatBytes(e.Locals/max(1, e.Tasks)))
	if e.Site != "" {
		s += ", made at " + e.Site
	}
	return s + "."
}

func (e *ThreadLocals) remedy() string {
	return "Take the values from a pool that does not depend on the thread, such as a queue of buffers, or pass them along. A larger heap only makes the collections rarer."
}

// Add adds what is allocated in a class at a site.
func (e *Allocated) Add(class, site string, samples, bytes int64, local bool) {
	i, known := e.index[class]
	if !known {
		if e.index == nil {
			e.index = map[string]int{}
		}
		i = len(e.Classes)
		e.index[class], e.Classes = i, append(e.Classes, AllocatedClass{Class: class})
	}
	c := &e.Classes[i]
	e.Bytes, e.Samples = e.Bytes+bytes, e.Samples+samples
	c.Bytes, c.Samples = c.Bytes+bytes, c.Samples+samples
	if local {
		c.Locals += bytes
	}
	if site != "" && bytes > c.SiteBytes {
		c.Site, c.SiteBytes = site, bytes
	}
}

// Sort orders the classes and gives each what all allocate.
func (e *Allocated) Sort() {
	slices.SortFunc(e.Classes, func(x, y AllocatedClass) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Class, y.Class))
	})
	for i := range e.Classes {
		e.Classes[i].Of, e.index[e.Classes[i].Class] = e.Bytes, i
	}
}

// OneTaskAThread marks the classes for each of whose tasks a thread is started.
func (e *Allocated) OneTaskAThread(u *UnitFacts) {
	if e == nil {
		return
	}
	for _, c := range u.Classes {
		i, known := e.index[c.Name]
		if !known || c.Pool < 0 {
			continue
		}
		p := &u.Pools[c.Pool]
		e.Classes[i].OneTaskEach = p.Virtual || p.Threads
	}
}

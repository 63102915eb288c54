package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"stackagent/internal/taskdef"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Hidden is work in loops and in tasks of servers, whose names do not say what was done,
// and the definitions of the tasks that would show it.
type Hidden struct {
	Share   float64  `json:"share"`   // of the self CPU time of all executions
	Classes []string `json:"classes"` // that hold it, most first
	Tasks   []string `json:"tasks"`   // values of --task
}

// Text shows the line.
func (h *Hidden) Text() string {
	var flags []string
	for _, t := range h.Tasks {
		flags = append(flags, "--task '"+t+"'")
	}
	return fmt.Sprintf("%s of the CPU time is in %s, which calls the program's work by plain methods. To see that work by name, record with %s",
		units.FormatPercent(h.Share), strings.Join(h.Classes, " and "), strings.Join(flags, " "))
}

const (
	hiddenShare  = 0.5 // of the work, from which it is worth another run
	hiddenLeast  = 0.1 // of the work, in one class
	loopLifetime = 0.1 // of the session, that the execution of a loop lasts at least
)

// calls are the tasks of servers and schedulers, a dot or dollar at the end for all that
// begin so, and the presets that show what they call.
var calls = []struct{ class, preset string }{
	{"sun.net.httpserver.ServerImpl$Exchange", "@httpserver"},
	{"org.apache.tomcat.util.net.NioEndpoint$SocketProcessor", "@tomcat"},
	{"org.apache.tomcat.util.net.Nio2Endpoint$SocketProcessor", "@tomcat"},
	{"org.apache.tomcat.util.net.AprEndpoint$SocketProcessor", "@tomcat"},
	{"org.eclipse.jetty.", "@jetty"},
	{"kafka.server.KafkaRequestHandler", "@kafka"},
	{"org.apache.kafka.queue.KafkaEventQueue$EventHandler", "@kafka"},
	{"com.lmax.disruptor.BatchEventProcessor", "@disruptor"},
	{"org.apache.spark.executor.Executor$TaskRunner", "@spark"},
	{"org.apache.pekko.dispatch.Mailbox", "@pekko"},
	{"akka.dispatch.Mailbox", "@pekko"},
	{"io.netty.util.concurrent.SingleThreadEventExecutor$", "@netty"},
}

// presetOf is the preset for a class of a server or scheduler, "" for any other.
func presetOf(class string) string {
	for _, c := range calls {
		begins := strings.HasSuffix(c.class, ".") || strings.HasSuffix(c.class, "$")
		if class == c.class || begins && strings.HasPrefix(class, c.class) {
			return c.preset
		}
	}
	return ""
}

// feeds reports whether a class is beside a task of a server, in the same outer class: its loop only passes work on to that
// task, as Tomcat's Poller does.
func feeds(class string) bool {
	outer, _, nested := strings.Cut(class, "$")
	return nested && slices.ContainsFunc(calls, func(c struct{ class, preset string }) bool { return strings.HasPrefix(c.class, outer+"$") })
}

// taskOf is the value of --task that shows the work of a class; "" if none is known. loop:
// only if its executions are as long as loops.
func taskOf(c *session.Class) (task string, loop bool) {
	if p := presetOf(c.Name); p != "" {
		return p, false
	}
	if c.LoopCall == "" || feeds(c.Name) {
		return "", false
	}
	for _, name := range taskdef.PresetNames() {
		p, _ := taskdef.PresetOf(name)
		if slices.ContainsFunc(p.Definitions, func(d string) bool { return covers(d, c.LoopCall) }) {
			return name, true
		}
	}
	return c.LoopCall, true
}

// covers reports whether a definition of a preset, with or without a descriptor, is that of a call.
func covers(definition, call string) bool {
	return definition == call || strings.HasPrefix(call, definition+"(")
}

// definitions are those that a session was recorded with: what they show it shows already.
type definitions map[string]bool

func usedDefinitions(tasks []string) definitions {
	used := definitions{}
	for _, value := range tasks {
		for _, d := range taskdef.Expand(value) {
			used[d] = true
		}
	}
	return used
}

// has reports whether a value of --task would define nothing new.
func (d definitions) has(task string) bool {
	return !slices.ContainsFunc(taskdef.Expand(task), func(x string) bool {
		class, _, _ := strings.Cut(x, "(")
		return !d[x] && !d[class]
	})
}

// classWork is what executions of a class did themselves.
type classWork struct {
	executions int64
	wall, cpu  units.Ns
}

// findHidden looks for work that a session hides in loops and tasks of servers; nil if it
// is not most of the work, or if no definition is known that would show it.
func findHidden(s *session.Session) (*Hidden, error) {
	tasks, loops, used := map[uint32]string{}, map[uint32]bool{}, usedDefinitions(s.Manifest.Tasks)
	for i := range s.Classes {
		c := &s.Classes[i]
		if task, loop := taskOf(c); task != "" && !used.has(task) {
			tasks[c.ID], loops[c.ID] = task, loop
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	work, total, err := selfWork(s)
	if err != nil || total == 0 {
		return nil, err
	}
	long := units.Ns(float64(s.Manifest.EndNs-s.Manifest.StartNs) * loopLifetime)
	byName := map[string]units.Ns{}
	byTask := map[string]units.Ns{}
	for id, task := range tasks {
		w := work[id]
		if w == nil || loops[id] && w.wall/units.Ns(max(w.executions, 1)) < long {
			continue
		}
		byName[s.ClassByID(id).Name] += w.cpu
		byTask[task] += w.cpu
	}
	h := &Hidden{Classes: most(byName, total), Tasks: most(byTask, total)}
	for _, name := range h.Classes {
		h.Share += float64(byName[name]) / float64(total)
	}
	if h.Share <= hiddenShare {
		return nil, nil
	}
	return h, nil
}

// most are the keys with a share that counts, the largest first.
func most(of map[string]units.Ns, total units.Ns) []string {
	var keys []string
	for k, w := range of {
		if float64(w) >= hiddenLeast*float64(total) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), strings.Compare(a, b)) })
	return keys
}

// selfWork sums up the work of the classes, and of all.
func selfWork(s *session.Session) (map[uint32]*classWork, units.Ns, error) {
	var mu sync.Mutex
	total, all := units.Ns(0), map[uint32]*classWork{}
	of := func(class uint32) *classWork {
		if all[class] == nil {
			all[class] = &classWork{}
		}
		return all[class]
	}
	sums := func(_ int, x *store.Sums) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range x.Classes {
			w := of(x.Classes[i].Class)
			for _, m := range x.Classes[i].Work {
				switch m.Metric {
				case wire.MetricWall:
					w.wall += units.Ns(m.Sum)
				case wire.MetricSelfCPU:
					w.executions += int64(m.Count)
					w.cpu += units.Ns(m.Sum)
					total += units.Ns(m.Sum)
				}
			}
		}
		return nil
	}
	rows := func(_ int, c *session.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for i, class := range c.Class {
			if !c.SelfCPUNs[i].Measured() {
				continue
			}
			w := of(class)
			w.executions++
			w.cpu += c.SelfCPUNs[i]
			total += c.SelfCPUNs[i]
			w.wall += c.WallNs[i].OrZero()
		}
		return nil
	}
	err := s.SumExecutions(store.ExecutionClass|store.ExecutionWall|store.ExecutionSelfCPU, sums, rows)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the executions of session %s: %w", s.Manifest.Session, err)
	}
	err = s.Summaries(func(x *session.Summary) error {
		for _, m := range x.Measures {
			switch m.Metric {
			case wire.MetricWall:
				w := of(x.Class)
				w.executions += int64(m.Count)
				w.wall += m.SumNs
			case wire.MetricSelfCPU:
				of(x.Class).cpu += m.SumNs
				total += m.SumNs
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("reading the summaries of session %s: %w", s.Manifest.Session, err)
	}
	return all, total, nil
}

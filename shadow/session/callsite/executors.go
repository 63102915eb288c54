package callsite

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// ExecutorLabel names an executor; 0: none. It is named after the threads that run its
// tasks, tax (ThreadPoolExecutor, Orders.java:12); if their names are the JDK's own, after
// the line that constructs it. Very many that one line constructs have one label.
func (x *Index) ExecutorLabel(executor uint32) string {
	if executor == 0 {
		return NoExecutor
	}
	if label, ok := x.executors().labels[executor]; ok {
		return label
	}
	return fmt.Sprintf("executor %d %s", executor, UnknownSite)
}

// commonPool is the name that the agent gives the common pool.
const commonPool = "common"

// defaultThreads are the names that the JDK gives the threads of pools, without the number.
var defaultThreads = regexp.MustCompile(`^(pool-\d+-thread|ForkJoinPool(-\d+|\.commonPool)-worker|Thread|)$`)

// LabelExecutor names an executor whose threads have names that begin so; "": not known, or they have
// nothing in common.
func LabelExecutor(e *session.Executor, threads string) string {
	class := e.Class[strings.LastIndexByte(e.Class, '.')+1:]
	place := Place(e.File, e.Line)
	if place == "" {
		place = e.MadeIn
	}
	if e.Name == commonPool && class == "ForkJoinPool" {
		return "ForkJoinPool.commonPool"
	}
	first, more := e.Name, []string{class}
	unnamed := defaultThreads.MatchString(threads)
	if first == "" && !unnamed {
		first = threads
	}
	if first == "" {
		first, place = place, ""
		if pool := strings.TrimSuffix(strings.TrimSuffix(threads, "-thread"), "-worker"); pool != "" && pool != "Thread" {
			if first == "" {
				first = pool
			} else {
				more = append(more, pool)
			}
		}
	}
	if first == "" {
		return fmt.Sprintf("%s#%d", e.Class, e.ID)
	}
	if place != "" {
		more = append(more, place)
	}
	return first + " (" + strings.Join(more, ", ") + ")"
}

// ran is that a thread ran tasks of an executor.
type ran struct{ executor, thread uint32 }

// ranOn counts the recorded executions of the tasks of each executor on each thread, and finds the
// classes of the loops of pools' workers that each thread ran.
func (x *Index) ranOn() (counts map[ran]uint64, workers map[uint32]string) {
	counts, workers = map[ran]uint64{}, map[uint32]string{}
	loops := map[uint32]string{}
	for _, c := range x.s.Classes {
		if unit.IsLoop(c.Name, c.Kinds) && c.Kinds&units.KindThread == 0 {
			loops[c.ID] = c.Name
		}
	}
	var mu sync.Mutex
	err := x.s.ScanExecutions(store.ExecutionTaskID|store.ExecutionThread|store.ExecutionClass, func(_ int, c *session.Chunk) error {
		own, working := map[ran]uint64{}, map[uint32]string{}
		for i, task := range c.TaskID {
			if o := x.list[x.recorded(task)]; o.Executor != 0 {
				own[ran{o.Executor, c.Thread[i]}]++
			}
			if loop := loops[c.Class[i]]; loop != "" {
				working[c.Thread[i]] = loop
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k, n := range own {
			counts[k] += n
		}
		maps.Copy(workers, working)
		return nil
	})
	if err != nil {
		return nil, nil // the reading of the executions reports it
	}
	return counts, workers
}

// ExecutorsIn is how many executors have a label; 0: it is none of executors.
func (x *Index) ExecutorsIn(label string) int64 {
	return x.executors().in[label]
}

// Each is the index with a label for each executor, also for those that were made at one line.
func (x *Index) Each() *Index {
	each := *x
	each.executors = sync.OnceValue(func() *executorNames { return x.nameExecutors(true) })
	return &each
}

// ExecutorOf is the executor whose worker a thread is; 0: it is none, or the executor is not known.
func (x *Index) ExecutorOf(thread uint32) uint32 {
	return x.executors().workers[thread]
}

const poolWorker = "java.util.concurrent.ThreadPoolExecutor$Worker"

// workersOf finds the executors of the threads that are workers of pools. The agent records that when a worker begins. Of
// those that began before the agent: all tasks of a worker whose executor is known have the same one; a worker without
// such tasks belongs to the only pool that it can belong to.
func (x *Index) workersOf(counts map[ran]uint64, workers map[uint32]string) map[uint32]uint32 {
	of, several := map[uint32]uint32{}, map[uint32]bool{}
	for k := range counts {
		if other, ok := of[k.thread]; ok && other != k.executor {
			several[k.thread] = true
		}
		of[k.thread] = k.executor
	}
	maps.DeleteFunc(of, func(thread, _ uint32) bool {
		t := x.s.ThreadByID(thread)
		return several[thread] || workers[thread] == "" && (t == nil || !strings.HasSuffix(t.Class, "ForkJoinWorkerThread"))
	})
	only := x.onlyPool()
	for thread, loop := range workers {
		if _, known := of[thread]; !known && !several[thread] && loop == poolWorker && only != 0 {
			of[thread] = only
		}
	}
	for i := range x.s.Threads {
		if t := &x.s.Threads[i]; t.Executor != 0 {
			of[t.ID] = t.Executor
		}
	}
	return of
}

// onlyPool is the only executor that can have workers of the JDK's ThreadPoolExecutor; 0: there is
// none, or more than one, or one of which that is not known.
func (x *Index) onlyPool() (only uint32) {
	for _, e := range x.s.Executors() {
		switch e.Class {
		case "java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ScheduledThreadPoolExecutor":
			if only != 0 {
				return 0
			}
			only = e.ID
		case "java.util.concurrent.ForkJoinPool", delayedExecutor:
		default:
			if !strings.HasPrefix(e.Class, "java.util.concurrent.Executors$") {
				return 0
			}
		}
	}
	return only
}

// executorThreads are the names of the threads of each executor, by how many of its tasks they ran. If no task has a
// record, its workers count.
func (x *Index) executorThreads(counts map[ran]uint64, workers map[uint32]uint32) map[uint32]map[string]uint64 {
	counts = maps.Clone(counts)
	for thread, executor := range workers {
		if counts != nil {
			counts[ran{executor, thread}]++
		}
	}
	names := map[uint32]map[string]uint64{}
	for k, n := range counts {
		t := x.s.ThreadByID(k.thread)
		if t == nil || t.Virtual {
			continue
		}
		if names[k.executor] == nil {
			names[k.executor] = map[string]uint64{}
		}
		names[k.executor][t.Name] += n
	}
	return names
}

// maxThreadName bounds what a label shows of the name of a thread.
const maxThreadName = 60

// SharedName is what the names of threads have in common, by how many tasks they ran: the
// name without its number that most bear, or else how all begin.
func SharedName(threads map[string]uint64) string {
	stems, total := map[string]uint64{}, uint64(0)
	for name, n := range threads {
		stems[stem(name)] += n
		total += n
	}
	order := slices.SortedFunc(maps.Keys(stems), func(a, b string) int { return cmp.Or(cmp.Compare(stems[b], stems[a]), cmp.Compare(a, b)) })
	if len(order) == 0 {
		return ""
	}
	if stems[order[0]] > total/2 {
		return cut(order[0])
	}
	shared := order[0]
	for _, name := range order {
		for !strings.HasPrefix(name, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	if shared = stem(shared); len(shared) < 3 || !utf8.ValidString(shared) {
		return ""
	}
	return cut(shared)
}

// stem is the name of a thread without its number.
func stem(name string) string {
	return strings.TrimRight(strings.TrimRight(name, "0123456789"), "-_#. :/")
}

func cut(name string) string {
	if r := []rune(name); len(r) > maxThreadName {
		return string(r[:maxThreadName])
	}
	return name
}

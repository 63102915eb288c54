package origin

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// ExecutorLabel names an executor; 0: none. It is named after the threads that run its
// tasks, tax (ThreadPoolExecutor, Orders.java:12); if their names are the JDK's own, after
// the line that constructs it.
func (x *Index) ExecutorLabel(executor uint32) string {
	if executor == 0 {
		return NoExecutor
	}
	x.executorsOnce.Do(x.nameExecutors)
	if label, ok := x.executorLabels[executor]; ok {
		return label
	}
	return fmt.Sprintf("executor %d %s", executor, UnknownSite)
}

// nameExecutors labels all executors. Those with one label are numbered.
func (x *Index) nameExecutors() {
	threads := x.executorThreads()
	x.executorLabels = map[uint32]string{}
	same := map[string][]uint32{}
	for _, e := range x.s.Executors() {
		label := executorLabel(&e, threads[e.ID])
		x.executorLabels[e.ID] = label
		same[label] = append(same[label], e.ID)
	}
	for label, ids := range same {
		for _, id := range ids {
			if len(ids) > 1 {
				x.executorLabels[id] = fmt.Sprintf("%s #%d", label, id)
			}
		}
	}
}

// commonPool is the name that the agent gives the common pool.
const commonPool = "common"

// defaultThreads are the names that the JDK gives the threads of pools, without the number.
var defaultThreads = regexp.MustCompile(`^(pool-\d+-thread|ForkJoinPool(-\d+|\.commonPool)-worker|Thread|)$`)

func executorLabel(e *session.Executor, threads string) string {
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

// executorThreads are the names of the threads that ran most of the tasks of each executor,
// without their numbers; "": they have none in common.
func (x *Index) executorThreads() map[uint32]string {
	type ran struct{ executor, thread uint32 }
	counts := map[ran]uint64{}
	var mu sync.Mutex
	err := x.s.ScanExecutions(store.ExecutionTaskID|store.ExecutionThread, func(_ int, c *session.Chunk) error {
		own := map[ran]uint64{}
		for i, task := range c.TaskID {
			if o := x.list[x.recorded(task)]; o.Executor != 0 {
				own[ran{o.Executor, c.Thread[i]}]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k, n := range own {
			counts[k] += n
		}
		return nil
	})
	if err != nil {
		return nil // the reading of the executions reports it
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
	out := map[uint32]string{}
	for executor, threads := range names {
		out[executor] = sharedName(threads)
	}
	return out
}

// maxThreadName bounds what a label shows of the name of a thread.
const maxThreadName = 60

// sharedName is what the names of threads have in common, by how many tasks they ran: the
// name without its number that most bear, or else how all begin.
func sharedName(threads map[string]uint64) string {
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

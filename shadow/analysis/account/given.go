package account

import (
	"fmt"
	"math"
	"strings"

	"stackagent/shadow/analysis/wait"
)

// isTimer reports whether an executor is a java.util.Timer, which has one thread.
func (s *Session) isTimer(executor uint32) bool {
	e := s.graph.Given[executor]
	return e != nil && e.Class == "java.util.Timer"
}

// isCommon reports whether an executor is the common pool, which all parallel streams share that no other pool runs.
func (s *Session) isCommon(executor uint32) bool {
	return strings.HasPrefix(s.executor(executor), "ForkJoinPool.commonPool")
}

// size says what an executor was given that keeps it from having more workers, and how to have as many as CPUs.
func (s *Session) size(executor uint32) (happened, remedy string) {
	remedy = fmt.Sprintf("Give it as many workers as there are CPUs (%d).", s.CPUs)
	e := s.graph.Given[executor]
	if s.isCommon(executor) {
		remedy = fmt.Sprintf("Make it larger for the whole program (-Djava.util.concurrent.ForkJoinPool.common.parallelism=%[1]d), or pass an executor with as many workers as there are CPUs (%[1]d) to supplyAsync, runAsync and similar methods.", s.CPUs)
	}
	switch {
	case e == nil || e.Maximum == 0:
		if strings.Contains(s.executor(executor), "ThreadPoolExecutor") {
			remedy += " A ThreadPoolExecutor starts more than its core size only when its queue is full."
		}
		return "", remedy
	case strings.HasSuffix(e.Queue, "$DelayedWorkQueue"):
		return fmt.Sprintf("Its core size is %d, and a ScheduledThreadPoolExecutor never has more workers.", e.Core), remedy
	case e.Core < e.Maximum && e.Bound != 0:
		remedy = fmt.Sprintf("Set its core size to the number of CPUs (%d)", s.CPUs)
		if e.Bound == math.MaxInt32 {
			remedy += "; allowCoreThreadTimeOut lets idle workers end"
		}
		return s.stopsAtCore(executor), remedy + "."
	case e.Queue == "": // a fork/join pool
		return fmt.Sprintf("Its parallelism is %d.", e.Maximum), remedy
	}
	return fmt.Sprintf("It was given %d.", e.Maximum), remedy
}

// stopsAtCore says why an executor that may have more workers than its core size does not start them; "": it has started all that it may.
func (s *Session) stopsAtCore(executor uint32) string {
	e := s.graph.Given[executor]
	if e == nil || e.Core >= e.Maximum || e.Bound == 0 || strings.HasSuffix(e.Queue, "$DelayedWorkQueue") || s.count(executor) >= int(e.Maximum) {
		return ""
	}
	happened := fmt.Sprintf("Its core size is %d and its maximum %s, but it starts workers beyond the core size only when its queue is full", e.Core, atMost(e.Maximum))
	queue := wait.Readable(e.Queue)
	if e.Bound == math.MaxInt32 {
		return fmt.Sprintf("%s, and its %s has no bound: the maximum is never reached.", happened, queue)
	}
	return fmt.Sprintf("%s: its %s holds %d.", happened, queue, e.Bound)
}

// atMost is the most workers that an executor may have, in words.
func atMost(n int32) string {
	if n == math.MaxInt32 {
		return "any number"
	}
	return fmt.Sprint(n)
}

// order says in which order an executor runs its units, and how to make it first in, first out.
func (s *Session) order(executor uint32) (happened, remedy string) {
	e := s.graph.Given[executor]
	switch {
	case e != nil && strings.HasSuffix(e.Queue, "PriorityBlockingQueue"):
		return "Its queue, a PriorityBlockingQueue, gives out units of a higher priority first, however long others wait.", "Let the priority of a unit rise with the time that it waits, or give those that must not wait a pool of their own."
	case e != nil && e.Queue == "" && e.Maximum > 0 && !e.AsyncMode:
		return "It is a ForkJoinPool without asyncMode: its workers run first what they submitted last.", "Make the pool with asyncMode, which is first in, first out."
	}
	return "Its workers take the newest units first, or those of a higher priority.", "Make it first in, first out: asyncMode of a ForkJoinPool, a FIFO queue of a ThreadPoolExecutor."
}

package kernel

import (
	"stackagent/internal/proc"
)

// threadNumbers translates the ids of threads into those of the JVM's process namespace, where it has its own.
type threadNumbers struct {
	pid   int
	own   bool
	known map[int32]int32
}

func newThreadNumbers(pid int) *threadNumbers {
	_, own, err := proc.Process(pid).Inner()
	return &threadNumbers{pid: pid, own: own && err == nil, known: map[int32]int32{}}
}

// number is the thread's id as the JVM sees it; 0, the whole process, if it ended before anybody could ask.
func (t *threadNumbers) number(thread int32) int32 {
	if !t.own || thread == 0 {
		return thread
	}
	n, ok := t.known[thread]
	if !ok {
		if inner, _, err := proc.Process(t.pid).Thread(int(thread)).Inner(); err == nil {
			n = int32(inner)
		}
		t.known[thread] = n
	}
	return n
}

// forget is for ended threads.
func (t *threadNumbers) forget(thread int32) { delete(t.known, thread) }

package jvmti

/*
#include "agent.h"
*/
import "C"

import (
	"runtime"
	"sync"
)

const (
	processors = 4           // at most, of the machine's, for Go code: few threads, and the program keeps its own
	inC        = workers + 1 // threads that wait in C
	gathered   = 10          // threads that are started at once; C.SA_SPARES has some more
)

// settleThreads starts the threads that the runtime may need, so that it has
// them later, and closes each for signals: a handler of the program, of a
// profiler for one, would run on the small stack of a goroutine.
func settleThreads() {
	runtime.GOMAXPROCS(min(processors, runtime.GOMAXPROCS(0)))
	for range 5 { // a thread may be busy, and not among the first
		gather(gathered)
		if C.sa_open_threads() <= 0 {
			return
		}
	}
}

var next = 2 // threads that CloseThreads gathers

// CloseThreads closes threads for signals that the runtime has started since.
// It has had enough of them from the start, so there is rarely one. The runtime
// takes those first that idle last, so a few are enough as a rule. No more are
// gathered than idle: that would start another. One that this does not meet has
// run no goroutine yet.
func CloseThreads() {
	if C.sa_open_threads() <= 0 || C.sa_spares_left() == 0 {
		next = 2
		return
	}
	gather(next)
	if next++; next > int(C.sa_go_threads())-inC-1 || next > gathered {
		next = 2
	}
}

// gather has n goroutines wait for each other, each on a thread of its own.
func gather(n int) {
	var here, gone sync.WaitGroup
	leave := make(chan struct{})
	here.Add(n)
	gone.Add(n)
	for range n {
		go func() {
			defer gone.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			C.sa_close_signals()
			here.Done()
			<-leave
		}()
	}
	here.Wait()
	close(leave)
	gone.Wait()
}

// ThreadWaits is how often the runtime had to wait for a thread because the
// system gave none.
func ThreadWaits() uint64 { return uint64(C.sa_thread_waits()) }

package jvmti

/*
#include "life.h"
*/
import "C"

import "runtime"

// processors bounds those that run Go code: few threads, and the program keeps its own.
const processors = 4

func boundThreads() { runtime.GOMAXPROCS(min(processors, runtime.GOMAXPROCS(0))) }

// ThreadWaits is how often the runtime had to wait for a thread because the
// system gave none.
func ThreadWaits() uint64 { return uint64(C.sa_thread_waits()) }

package jvmti

/*
#include "state_work.h"
*/
import "C"

import (
	"syscall"

	"stackagent/internal/wire"
)

// WorkSource says where a work metric comes from.
type WorkSource uint8

// The sources.
const (
	WorkBytecodes WorkSource = C.SA_WORK_BYTECODES // counted by woven code
	WorkAlloc     WorkSource = C.SA_WORK_ALLOC     // the JVM's own count of what a thread allocates
	WorkCounter   WorkSource = C.SA_WORK_COUNTER   // a performance event of the kernel
)

// Work is a work metric beside wall and CPU time that is to be measured.
type Work struct {
	Name   string
	Source WorkSource

	// Of a counter, as internal/perfevent resolves its name; Explain says why
	// the kernel refuses it.
	Type             uint32
	Config           uint64
	UserOnly, Narrow bool
	Explain          func(syscall.Errno) string
}

var asked []Work // by number, as in sa.work.asked

// askWork passes the metrics to the C side, at most wire.MaxExtra.
func askWork(list []Work) {
	asked = list[:min(len(list), wire.MaxExtra)]
	for i, w := range asked {
		a := &C.sa_work.asked[i]
		*a = C.sa_work_asked{}
		a.source = C.uint8_t(w.Source)
		a.counter._type, a.counter.config = C.uint32_t(w.Type), C.uint64_t(w.Config)
		a.counter.user_only, a.counter.narrow = C.bool(w.UserOnly), C.bool(w.Narrow)
	}
	C.sa_work.asked_n = C.uint32_t(len(asked))
}

// workFound says, once the JVM is up, which of the metrics are measured and
// why the others are not.
func workFound() (extra []wire.Extra, refused map[string]string) {
	refused = map[string]string{}
	for i, w := range asked {
		a := &C.sa_work.asked[i]
		switch {
		case !bool(a.refused):
			extra = append(extra, describeWork(w, bool(a.counter.user_only)))
		case a.error != 0 && w.Explain != nil:
			refused[w.Name] = w.Explain(syscall.Errno(a.error))
		default:
			refused[w.Name] = C.GoString(&a.why[0])
		}
	}
	return extra, refused
}

func describeWork(w Work, userOnly bool) wire.Extra {
	switch w.Source {
	case WorkBytecodes:
		return wire.Extra{Name: w.Name, How: "woven"}
	case WorkAlloc:
		return wire.Extra{Name: w.Name, Unit: "bytes", How: "thread-local buffer"}
	}
	how := "read"
	if bool(C.sa_work.set.rdpmc) {
		how = "rdpmc"
	}
	if userOnly {
		how += ", user mode"
	}
	return wire.Extra{Name: w.Name, How: how}
}

package jvmti

/*
#include <stdlib.h>
#include "class.h"
#include "state_news.h"
*/
import "C"

import (
	"strings"
	"unsafe"

	"stackagent/internal/units"
)

// Mode says how a class is to be rewritten.
type Mode uint8

// The modes.
const (
	ModeStructure Mode = C.SA_MODE_STRUCTURE // fields only: the probes cannot run yet
	ModeFull      Mode = C.SA_MODE_FULL      // fields and probes
	ModeBodies    Mode = C.SA_MODE_BODIES    // probes only: it was loaded without the fields
)

// MaxSupertypes is how many of its supertypes a request has at most.
const MaxSupertypes = C.SA_MAX_SUPERS

// Supertype is a direct superclass or superinterface of a class.
type Supertype struct {
	Name  string      // internal name
	Kinds units.Kinds // task kinds, if Known
	Known bool        // the JVM knows its kinds; otherwise Transform finds out
}

// ClassRequest is a class on its way into the JVM.
type ClassRequest struct {
	Name       string // internal name
	Bytes      []byte // valid during the call only
	Mode       Mode
	Platform   bool // defined by the boot loader
	Hidden     bool
	Loaded     bool        // it exists already, with Fields
	Fields     []string    // fields of the agent that it was loaded with
	BareSuper  bool        // its superclass is a task without room for an id
	Dispatcher bool        // probe its calls of tasks: some tasks could not be woven
	Supertypes []Supertype // Transform fills in Kinds and Known where it can
}

// ClassAnswer says how the class continues.
type ClassAnswer struct {
	Woven []byte // nil: the class keeps its bytes
	Label string // name under which a hidden class is reported; "" for its own
}

func transformLoop() {
	for {
		r := C.sa_next_request()
		if r.names != 0 {
			answerNames(r)
		} else {
			answer(r)
		}
		C.sa_answer(r)
	}
}

// answer does not panic: if the weaver fails, the class keeps its bytes. (A nil dereference is not a panic here but a
// fault, see life_signals.c.)
func answer(r *C.sa_request) {
	defer func() {
		if p := recover(); p != nil {
			reason, name := C.CString("internal error"), C.GoString(r.name)
			sample := C.CString(name)
			C.sa_refuse(reason, sample)
			C.free(unsafe.Pointer(reason))
			C.free(unsafe.Pointer(sample))
		}
	}()
	supers := unsafe.Slice(r.supers, int(r.super_count))
	request := ClassRequest{
		Name:     C.GoString(r.name),
		Bytes:    unsafe.Slice((*byte)(r.bytes), int(r.len)),
		Mode:     Mode(r.mode),
		Platform: r.platform != 0,
		Hidden:   r.hidden != 0,

		Loaded:     r.loaded != 0,
		BareSuper:  r.bare_super != 0,
		Dispatcher: r.dispatcher != 0,
	}
	for i := range int(r.field_count) {
		request.Fields = append(request.Fields, C.GoString(&r.fields[i][0]))
	}
	for i := range supers {
		request.Supertypes = append(request.Supertypes, Supertype{
			Name:  C.GoString(&supers[i].name[0]),
			Kinds: units.Kinds(supers[i].kinds),
			Known: supers[i].known != 0,
		})
	}
	a := handler.Transform(&request)
	for i, s := range request.Supertypes {
		if s.Known {
			supers[i].known, supers[i].kinds = 1, C.uint16_t(s.Kinds)
		}
	}
	if a.Woven != nil {
		r.woven, r.woven_len = (*C.uchar)(C.CBytes(a.Woven)), C.uint32_t(len(a.Woven))
	}
	if a.Label != "" {
		r.label = C.CString(a.Label)
	}
}

// answerNames says which of the listed classes the options name as tasks.
func answerNames(r *C.sa_request) {
	list := C.GoStringN((*C.char)(unsafe.Pointer(r.bytes)), C.int(r.len))
	named := make([]byte, 0, len(list)/8)
	for name := range strings.Lines(list) {
		c := byte('0')
		if handler.Named(strings.TrimSuffix(name, "\n")) {
			c = '1'
		}
		named = append(named, c)
	}
	r.woven, r.woven_len = (*C.uchar)(C.CBytes(named)), C.uint32_t(len(named))
}

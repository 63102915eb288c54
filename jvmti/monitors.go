package jvmti

/*
#include <stdlib.h>
#include "class.h"
#include "state_monitors.h"
*/
import "C"

import (
	"embed"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unsafe"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// What reads monitors inside the JVM.
//
//go:embed helper/java/lang/StackagentMonitor*.class helper/stackagent/inside/*.class
var monitorClasses embed.FS

// MonitorRequest is which monitors the agent reads inside the JVM.
type MonitorRequest struct {
	Lines    []string // for StackagentMonitor.begin
	Classes  []string // by slot: internal name of the class that it is about, or empty
	FirstID  uint32   // of the monitors that Java code finds
	Interval time.Duration
}

// firstClasses are those that others extend; the last one in the list of all is the class that C code calls.
var firstClasses = []string{"java/lang/StackagentMonitor$Target", "java/lang/StackagentMonitor", "stackagent/inside/Asked", "stackagent/inside/Item", "stackagent/inside/Source"}

const lastClass = "stackagent/inside/Reader"

// monitorFiles are the names of all classes, in the order of their definition.
func monitorFiles() []string {
	names := slices.Clone(firstClasses)
	for _, dir := range []string{"java/lang", "stackagent/inside"} {
		files, _ := monitorClasses.ReadDir("helper/" + dir) // it is embedded
		for _, f := range files {
			name := path.Join(dir, strings.TrimSuffix(f.Name(), ".class"))
			if name != lastClass && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, lastClass)
}

// askMonitors passes on what is to be read. The classes are kept for later sessions.
func askMonitors(r *MonitorRequest) {
	lines, classes := C.CString(joinLines(r.Lines)), C.CString(joinLines(r.Classes))
	defer C.free(unsafe.Pointer(lines))
	defer C.free(unsafe.Pointer(classes))
	C.sa_monitors_ask(lines, classes, C.uint32_t(r.FirstID), C.uint64_t(r.Interval))
	if len(r.Lines) == 0 || C.sa_helper.monitor_files != nil {
		return
	}
	names := monitorFiles()
	files := unsafe.Slice((*C.sa_class_file)(C.calloc(C.size_t(len(names)), C.sizeof_sa_class_file)), len(names))
	for i, name := range names {
		b, _ := monitorClasses.ReadFile("helper/" + name + ".class")
		files[i] = C.sa_class_file{name: C.CString(name), file: classBytes(b)}
	}
	C.sa_helper.monitor_files, C.sa_helper.monitor_files_n = &files[0], C.uint32_t(len(names))
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// MonitorNews is a monitor that Java code found, or, without a name, why one has no values.
type MonitorNews struct {
	wire.InsideMonitor
	Found bool // by Java code: it has a name
}

// ReadMonitors takes what is new of the monitors and their values since the last call, and how many values found no room.
func ReadMonitors() (news []MonitorNews, samples []wire.InsideSample, lost uint64) {
	for m := C.sa_monitors_news(); m != nil; {
		next := m.next
		news = append(news, MonitorNews{Found: m.name != nil, InsideMonitor: wire.InsideMonitor{ID: uint32(m.id), Name: valid(m.name), Layer: valid(m.layer),
			Unit: valid(m.unit), Counter: bool(m.counter), Source: valid(m.source), Why: valid(m.why)}})
		C.sa_monitors_free(m)
		m = next
	}
	var some [256]C.sa_sample
	for {
		var without C.uint64_t
		n := C.sa_monitors_samples(&some[0], C.size_t(len(some)), &without)
		lost += uint64(without)
		for _, s := range some[:n] {
			samples = append(samples, wire.InsideSample{Monitor: uint32(s.id), At: units.Ticks(s.at_ticks), Bits: math.Float64bits(float64(s.value))})
		}
		if n == 0 {
			return news, samples, lost
		}
	}
}

// valid is a text of the program as UTF-8: Java writes some characters in its own way.
func valid(s *C.char) string { return strings.ToValidUTF8(text(s), "?") }

package jfr

import (
	"fmt"
	"strconv"
)

// Numbers of types. Those of the metadata and of the checkpoint are the format's.
const (
	typeMetadata = iota
	typeCheckpoint
	_
	_
	typeBoolean
	typeByte
	typeChar
	typeShort
	typeInt
	typeLong
	typeFloat
	typeDouble
	typeString
	typeClass
	typeClassLoader
	typePackage
	typeModule
	typeSymbol
	typeMethod
	typeThread
	typeThreadGroup
	typeStackTrace
	typeStackFrame
	typeFrameType
	typeLabel
	typeName
	typeCategory
	typeDescription
	typeTimestamp
	typeTimespan
	typeUnsigned
	firstEvent = 100
)

// Numbers of events.
const (
	eventTask = firstEvent + iota
	eventSubmission
	eventQueue
	eventWait
	eventSummary
	eventNote
	eventCollection
	eventPause
	eventJVM
	eventCPU
	eventSetting
	eventWaitSum
	eventProperty
)

// field is a field of a type.
type field struct {
	name    string
	of      int
	pooled  bool
	array   bool
	label   string
	kind    int    // typeTimestamp, typeTimespan, typeUnsigned; 0: a plain one
	unit    string // of a time
	explain string
}

// kind is a type: of values, or of events where it has a label.
type kind struct {
	id                   int
	name, super          string
	simple               bool
	label, explain       string
	category             []string
	timed, thread, stack bool // events: with duration, thread, stack
	fields               []field
}

const (
	superEvent      = "jdk.jfr.Event"
	superAnnotation = "java.lang.annotation.Annotation"
)

var valueKinds = []kind{
	{id: typeBoolean, name: "boolean"}, {id: typeByte, name: "byte"}, {id: typeChar, name: "char"}, {id: typeShort, name: "short"},
	{id: typeInt, name: "int"}, {id: typeLong, name: "long"}, {id: typeFloat, name: "float"}, {id: typeDouble, name: "double"},
	{id: typeString, name: "java.lang.String"},
	{id: typeClass, name: "java.lang.Class", fields: []field{{name: "classLoader", of: typeClassLoader, pooled: true}, {name: "name", of: typeSymbol, pooled: true},
		{name: "package", of: typePackage, pooled: true}, {name: "modifiers", of: typeInt}, {name: "hidden", of: typeBoolean}}},
	{id: typeClassLoader, name: "jdk.types.ClassLoader", fields: []field{{name: "type", of: typeClass, pooled: true}, {name: "name", of: typeSymbol, pooled: true}}},
	{id: typePackage, name: "jdk.types.Package", fields: []field{{name: "name", of: typeSymbol, pooled: true}, {name: "module", of: typeModule, pooled: true}, {name: "exported", of: typeBoolean}}},
	{id: typeModule, name: "jdk.types.Module", fields: []field{{name: "name", of: typeSymbol, pooled: true}, {name: "version", of: typeSymbol, pooled: true},
		{name: "location", of: typeSymbol, pooled: true}, {name: "classLoader", of: typeClassLoader, pooled: true}}},
	{id: typeSymbol, name: "jdk.types.Symbol", simple: true, fields: []field{{name: "string", of: typeString}}},
	{id: typeMethod, name: "jdk.types.Method", fields: []field{{name: "type", of: typeClass, pooled: true}, {name: "name", of: typeSymbol, pooled: true},
		{name: "descriptor", of: typeSymbol, pooled: true}, {name: "modifiers", of: typeInt}, {name: "hidden", of: typeBoolean}}},
	{id: typeThread, name: "java.lang.Thread", fields: []field{{name: "osName", of: typeString}, {name: "osThreadId", of: typeLong}, {name: "javaName", of: typeString},
		{name: "javaThreadId", of: typeLong}, {name: "group", of: typeThreadGroup, pooled: true}, {name: "virtual", of: typeBoolean}}},
	{id: typeThreadGroup, name: "jdk.types.ThreadGroup", fields: []field{{name: "parent", of: typeThreadGroup, pooled: true}, {name: "name", of: typeString}}},
	{id: typeStackTrace, name: "jdk.types.StackTrace", fields: []field{{name: "truncated", of: typeBoolean}, {name: "frames", of: typeStackFrame, array: true}}},
	{id: typeStackFrame, name: "jdk.types.StackFrame", fields: []field{{name: "method", of: typeMethod, pooled: true}, {name: "lineNumber", of: typeInt},
		{name: "bytecodeIndex", of: typeInt}, {name: "type", of: typeFrameType, pooled: true}}},
	{id: typeFrameType, name: "jdk.types.FrameType", simple: true, fields: []field{{name: "description", of: typeString}}},
	{id: typeLabel, name: "jdk.jfr.Label", super: superAnnotation, fields: []field{{name: "value", of: typeString}}},
	{id: typeName, name: "jdk.jfr.Name", super: superAnnotation, fields: []field{{name: "value", of: typeString}}},
	{id: typeCategory, name: "jdk.jfr.Category", super: superAnnotation, fields: []field{{name: "value", of: typeString, array: true}}},
	{id: typeDescription, name: "jdk.jfr.Description", super: superAnnotation, fields: []field{{name: "value", of: typeString}}},
	{id: typeTimestamp, name: "jdk.jfr.Timestamp", super: superAnnotation, fields: []field{{name: "value", of: typeString}}},
	{id: typeTimespan, name: "jdk.jfr.Timespan", super: superAnnotation, fields: []field{{name: "value", of: typeString}}},
	{id: typeUnsigned, name: "jdk.jfr.Unsigned", super: superAnnotation},
}

func words(name, label string) field { return field{name: name, of: typeString, label: label} }
func flagged(name, label string) field {
	return field{name: name, of: typeBoolean, label: label}
}
func count(name, label string) field { return field{name: name, of: typeLong, label: label} }
func nanos(name, label, explain string) field {
	return field{name: name, of: typeLong, label: label, kind: typeTimespan, unit: "NANOSECONDS", explain: explain}
}

func pooled(name string, of int, label string) field {
	return field{name: name, of: of, pooled: true, label: label}
}

var ours, collector, system = []string{"stackagent"}, []string{"Java Virtual Machine", "GC"}, []string{"Java Virtual Machine"}

// eventKinds are the events; the writers of events append the fields in this order.
var eventKinds = []kind{
	{id: eventTask, name: "stackagent.Task", label: "Task", explain: "Execution of a task; the stack is the place that submitted it", category: ours, timed: true, thread: true, stack: true,
		fields: []field{pooled("taskClass", typeClass, "Task Class"), count("taskId", "Task"), count("outerTaskId", "Outer Task"),
			nanos("cpuTime", "CPU Time", "CPU time of the thread during the execution"), nanos("queueTime", "Queue Time", "From the submission, or from when the task was due, to the start"),
			words("executor", "Executor"), {name: "threw", of: typeBoolean, label: "Ended by an Exception"}, {name: "running", of: typeBoolean, label: "Running at the End"}}},
	{id: eventSubmission, name: "stackagent.Submission", label: "Submission", explain: "Submission of a task to an executor, or start of a thread", category: ours, thread: true, stack: true,
		fields: []field{pooled("taskClass", typeClass, "Task Class"), count("taskId", "Task"), words("executor", "Executor"), {name: "inner", of: typeBoolean, label: "By a Library, inside Another One"}}},
	{id: eventQueue, name: "stackagent.Queue", label: "Queue", explain: "A task in a queue; the thread is the one that executed it", category: ours, timed: true, thread: true, stack: true,
		fields: []field{pooled("taskClass", typeClass, "Task Class"), count("taskId", "Task"), words("executor", "Executor")}},
	{id: eventWait, name: "stackagent.Wait", label: "Wait", explain: "A wait that was recorded by itself", category: ours, timed: true, thread: true, stack: true,
		fields: []field{words("kind", "Kind"), pooled("blockerClass", typeClass, "Waited For"), pooled("taskClass", typeClass, "Inside Task"),
			pooled("waker", typeThread, "Ended By"), pooled("holder", typeThread, "Lock Held By"),
			words("waitFor", "For"), words("waitClass", "For Class"), pooled("lockClass", typeClass, "Lock of the Condition"), nanos("carrierTime", "Carrier Time", "The part after a virtual thread was made ready, when it waited for a carrier; 0: none, or not measured"),
			flagged("idle", "Without Work"), flagged("timed", "Time Limit"), flagged("timedOut", "Time Was Over"), flagged("pinned", "Kept Its Carrier"), flagged("open", "Not Ended")}},
	{id: eventWaitSum, name: "stackagent.WaitSum", label: "Short Waits", explain: "Waits of a thread that were too short or too many to be recorded by themselves; without a thread: of virtual threads", category: ours, timed: true, thread: true,
		fields: []field{words("kind", "Kind"), pooled("blockerClass", typeClass, "Waited For"), pooled("taskClass", typeClass, "Inside Task"),
			words("waitFor", "For"), words("waitClass", "For Class"), pooled("lockClass", typeClass, "Lock of the Condition"),
			flagged("idle", "Without Work"), count("waits", "Waits"), nanos("waited", "Time Waited", "Of all of them"), nanos("longest", "Longest", "Of all since the session began")}},
	{id: eventSummary, name: "stackagent.Summary", label: "Summary", explain: "Executions too fast to be recorded one by one", category: ours, timed: true, thread: true,
		fields: []field{pooled("taskClass", typeClass, "Task Class"), count("executions", "Executions"), nanos("wallTime", "Wall Time", "Of all of them")}},
	{id: eventNote, name: "stackagent.Note", label: "Note", explain: "What this recording does not hold", category: ours,
		fields: []field{words("text", "Text"), {name: "part", of: typeBoolean, label: "Events Are Missing"}}},
	{id: eventCollection, name: "jdk.GarbageCollection", label: "Garbage Collection", explain: "Garbage collection performed by the JVM", category: []string{"Java Virtual Machine", "GC", "Collector"}, timed: true,
		fields: []field{{name: "gcId", of: typeInt, label: "GC Identifier", kind: typeUnsigned}, words("name", "Name"), words("cause", "Cause"),
			ticks("sumOfPauses", "Sum of Pauses"), ticks("longestPause", "Longest Pause")}},
	{id: eventPause, name: "jdk.GCPhasePause", label: "GC Phase Pause", category: append(collector, "Phases"), timed: true, thread: true,
		fields: []field{{name: "gcId", of: typeInt, label: "GC Identifier", kind: typeUnsigned}, words("name", "Name")}},
	{id: eventJVM, name: "jdk.JVMInformation", label: "JVM Information", explain: "Description of JVM and the Java application", category: system,
		fields: []field{words("jvmName", "JVM Name"), words("jvmVersion", "JVM Version"), words("jvmArguments", "JVM Command Line Arguments"), words("jvmFlags", "JVM Settings File Arguments"),
			words("javaArguments", "Java Application Arguments"), {name: "jvmStartTime", of: typeLong, label: "JVM Start Time", kind: typeTimestamp, unit: "MILLISECONDS_SINCE_EPOCH"}, count("pid", "Process Identifier")}},
	{id: eventCPU, name: "jdk.CPUInformation", label: "CPU Information", category: []string{"Operating System", "Processor"},
		fields: []field{words("cpu", "Type"), words("description", "Description"), {name: "sockets", of: typeInt, label: "Sockets", kind: typeUnsigned},
			{name: "cores", of: typeInt, label: "Cores", kind: typeUnsigned}, {name: "hwThreads", of: typeInt, label: "Hardware Threads", kind: typeUnsigned}}},
	{id: eventProperty, name: "jdk.InitialSystemProperty", label: "Initial System Property", explain: "System Property at JVM start", category: system,
		fields: []field{words("key", "Key"), words("value", "Value")}},
	{id: eventSetting, name: "jdk.ActiveSetting", label: "Recording Setting", category: []string{"Flight Recorder"},
		fields: []field{count("id", "Event Id"), words("name", "Setting Name"), words("value", "Setting Value")}},
}

func ticks(name, label string) field {
	return field{name: name, of: typeLong, label: label, kind: typeTimespan, unit: "TICKS"}
}

// all are the fields with those that all events of its sort have.
func (k *kind) all(extra []field) []field {
	if k.label == "" {
		return k.fields
	}
	out := []field{{name: "startTime", of: typeLong, label: "Start Time", kind: typeTimestamp, unit: "TICKS"}}
	if k.timed {
		out = append(out, ticks("duration", "Duration"))
	}
	if k.thread {
		out = append(out, pooled("eventThread", typeThread, "Event Thread"))
	}
	if k.stack {
		out = append(out, pooled("stackTrace", typeStackTrace, "Stack Trace"))
	}
	out = append(out, k.fields...)
	if k.id == eventTask {
		out = append(out, extra...)
	}
	return out
}

// element is an element of the metadata, a small tree in the manner of XML.
type element struct {
	name     string
	attrs    []string // name, value, ...
	children []*element
}

func (e *element) child(name string, attrs ...string) *element {
	c := &element{name: name, attrs: attrs}
	e.children = append(e.children, c)
	return c
}

func (e *element) annotate(class int, values ...string) {
	attrs := []string{"class", strconv.Itoa(class)}
	for i, v := range values {
		name := "value"
		if class == typeCategory {
			name = fmt.Sprintf("value-%d", i)
		}
		attrs = append(attrs, name, v)
	}
	e.child("annotation", attrs...)
}

// metadata describes the types; extra are the fields of tasks that only this session has.
func metadata(extra []field) []byte {
	root := &element{name: "root"}
	types := root.child("metadata")
	for _, list := range [][]kind{valueKinds, eventKinds} {
		for i := range list {
			describe(types, &list[i], extra)
		}
	}
	root.child("region", "locale", "en_US", "gmtOffset", "0")
	var strings []string
	index := map[string]int64{}
	of := func(s string) int64 {
		n, ok := index[s]
		if !ok {
			n = int64(len(strings))
			index[s] = n
			strings = append(strings, s)
		}
		return n
	}
	var tree []byte
	var walk func(e *element)
	walk = func(e *element) {
		tree = number(number(tree, of(e.name)), int64(len(e.attrs)/2))
		for _, s := range e.attrs {
			tree = number(tree, of(s))
		}
		tree = number(tree, int64(len(e.children)))
		for _, c := range e.children {
			walk(c)
		}
	}
	walk(root)
	b := number(nil, int64(len(strings)))
	for _, s := range strings {
		b = inline(b, s)
	}
	return append(b, tree...)
}

func describe(types *element, k *kind, extra []field) {
	attrs := []string{"id", strconv.Itoa(k.id), "name", k.name}
	super := k.super
	if k.label != "" {
		super = superEvent
	}
	if super != "" {
		attrs = append(attrs, "superType", super)
	}
	if k.simple {
		attrs = append(attrs, "simpleType", "true")
	}
	e := types.child("class", attrs...)
	if k.label != "" {
		e.annotate(typeName, k.name)
		e.annotate(typeLabel, k.label)
		e.annotate(typeCategory, k.category...)
	}
	if k.explain != "" {
		e.annotate(typeDescription, k.explain)
	}
	for _, f := range k.all(extra) {
		attrs := []string{"name", f.name, "class", strconv.Itoa(f.of)}
		if f.pooled {
			attrs = append(attrs, "constantPool", "true")
		}
		if f.array {
			attrs = append(attrs, "dimension", "1")
		}
		x := e.child("field", attrs...)
		if f.label != "" {
			x.annotate(typeLabel, f.label)
		}
		if f.explain != "" {
			x.annotate(typeDescription, f.explain)
		}
		switch f.kind {
		case typeUnsigned:
			x.annotate(typeUnsigned)
		case typeTimestamp, typeTimespan:
			x.annotate(f.kind, f.unit)
		}
	}
}

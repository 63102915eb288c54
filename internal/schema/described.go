package schema

// What batches say about classes, threads, executors and call sites.

func id(column, doc string) Field {
	return Field{Name: "ID", Type: "uint32", Doc: doc, Row: Row{Column: column}}
}

var classRecord = Record{
	Name: "Class", Plural: "Classes", Doc: "Class describes a task class the first time it is used.",
	Wire:  Wire{Key: "k", Coding: List, If: "Looped"},
	Table: Table{Name: "classes", Doc: "task classes", Order: 2, Note: "The last row of an id counts."},
	Fields: []Field{
		{Name: "ID", Type: "uint32", Doc: "id within the session", Row: Row{Column: "class", Tag: "-"}},
		{Name: "Name", Type: "string", Doc: "Java name; a lambda: `Host$$Lambda -> Host.method`", Row: Row{Column: "name"}},
		{Name: "Kinds", Type: "units.Kinds", Doc: "`thread`, `runnable`, `callable`, `forkjoin`, `custom` (named by the user), `jdk` (of the platform), `hidden` (a lambda or spun class), `virtual`, joined with `+`",
			Row: Row{Type: "string", Column: "kinds", Tag: "dict", From: Text}},
		{Name: "Loader", Type: "string", Doc: "class of the defining loader, empty: boot loader", Row: Row{Column: "loader", Tag: "dict"}},
		{Name: "Looped", Type: "bool", Doc: "the field that follows is known", Wire: Column{Number: -1}, Row: Row{Name: "-"}},
		{Name: "LoopCall", Type: "string", Doc: "the method that its loop calls, as a task definition, empty: not known", Wire: Column{Later: true},
			Row: Row{Column: "loop_call", Tag: "dict"}},
	},
}

var threadRecord = Record{
	Name: "Thread", Plural: "Threads", Doc: "Thread describes a Java thread; it is sent again when a field changes.",
	Wire:  Wire{Key: "t", Coding: List, If: "Counted"},
	Table: Table{Name: "threads", Doc: "Java threads", Order: 3, Note: "The last row of an id counts."},
	Fields: []Field{
		{Name: "ID", Type: "uint32", Doc: "id within the session, never reused; 0 is not a thread", Row: Row{Column: "thread"}},
		{Name: "JavaID", Type: "int64", Doc: "`Thread.threadId()`", Row: Row{Column: "java_id"}},
		{Name: "OSID", Type: "int32", Wire: Column{What: "os id"}, Doc: "kernel thread id, 0 for a virtual thread", Row: Row{Column: "os_id"}},
		{Name: "Name", Type: "string", Doc: "its name", Row: Row{Column: "name"}},
		{Name: "Group", Type: "string", Doc: "its thread group", Row: Row{Column: "thread_group", Tag: "dict"}},
		{Name: "Class", Type: "string", Doc: "Java class of the thread object, empty: not known", Row: Row{Column: "class_name", Tag: "dict"}},
		{Name: "Daemon", Type: "bool", Doc: "a daemon thread", Row: Row{Column: "daemon"}},
		{Name: "Virtual", Type: "bool", Doc: "a virtual thread", Row: Row{Column: "virtual"}},
		{Name: "Start", Type: "units.Ticks", Doc: "start, 0: before the agent looked",
			Row: Row{Name: "StartNs", Type: "*int64", Column: "start_ns", Tag: "-", Null: "before the agent looked", From: By, Doc: "start"}},
		{Name: "End", Type: "units.Ticks", Doc: "end, 0: alive", Row: Row{Name: "EndNs", Type: "*int64", Column: "end_ns", Tag: "-", Null: "alive", From: By, Doc: "end"}},
		{Name: "CPU", Type: "units.Ns", Doc: "CPU time up to the end, or up to when this was written",
			Row: Row{Name: "CPUNs", Type: "*int64", Column: "cpu_ns", Tag: "-", Null: "not measured", From: Nullable}},
		{Name: "Counted", Type: "bool", Doc: "the three that follow are known", Wire: Column{Number: -1}, Row: Row{Name: "-"}},
		{Name: "Executions", Type: "uint64", Doc: "what the thread produced by the agent's count, up to the end or to when this was written, summarised and lost ones included; virtual threads are counted together, in the manifest",
			Wire: Column{Later: true}, Row: Row{Type: "*int64", Column: "executions", Tag: "-", Null: "not known", From: By}},
		{Name: "Creations", Type: "uint64", Doc: "as `executions`", Wire: Column{Later: true}, Row: Row{Type: "*int64", Column: "creations", Tag: "-", Null: "not known", From: By}},
		{Name: "Lost", Type: "uint64", Doc: "produced events that its ring had no room for", Wire: Column{Later: true}, Row: Row{Type: "*int64", Column: "lost", Tag: "-", Null: "not known", From: By}},
		{Name: "Executor", Type: "uint32", Doc: "executor whose worker it is: `executors.executor`, 0: none, or not known", Wire: Column{Newer: true}, Row: Row{Column: "executor", Tag: "-"}},
	},
}

var osThread = Record{
	Name: "OSThread", Plural: "OSThreads", Doc: "OSThread is the kernel's account of a thread of the process, the JVM's service threads included.",
	Wire: Wire{Key: "o", Coding: List, What: "os thread", In: "OS", Latest: true},
	Table: Table{Name: "os_threads", Doc: "the kernel's account of the process's threads", Order: 5,
		Note: "The last row of an id counts. The JVM's service threads are those whose `os_id` is not in `threads`."},
	Fields: []Field{
		{Name: "OSID", Type: "int32", Wire: Column{What: "os id"}, Doc: "kernel thread id", Row: Row{Column: "os_id"}},
		{Name: "Name", Type: "string", Doc: "`/proc/PID/task/TID/comm`, at most 15 characters", Row: Row{Column: "name"}},
		{Name: "CPU", Type: "units.Ns", Doc: "user and system CPU time so far", Row: Row{Name: "CPUNs", Type: "*int64", Column: "cpu_ns", Tag: "-", Null: "not measured", From: Nullable}},
		{Name: "Run", Type: "units.Ns", Doc: "time runnable but waiting for a CPU", Row: Row{Name: "RunNs", Type: "*int64", Column: "run_ns", Tag: "-", Null: "not measured", From: Nullable}},
	},
}

var pause = Record{
	Name: "Pause", Plural: "Pauses", Doc: "Pause is a garbage collection pause as JVMTI reports it, or the profiler's own.",
	Ring:  Ring{Struct: "sa_pause", Type: "SA_REC_PAUSE", Number: 4, Slots: 1, Note: "only in the rings of the collector's events and of the thread that changes classes"},
	Wire:  Wire{Key: "p", Coding: List},
	Table: Table{Name: "pauses", Doc: "garbage collection pauses", Order: 4},
	Fields: []Field{
		{Name: "Start", Type: "units.Ticks", Doc: "start", Ring: Slot{At: 8, Type: "uint64_t", Name: "start_ticks"},
			Row: Row{Name: "StartNs", Type: "int64", Column: "start_ns", From: Moment}},
		{Name: "End", Type: "units.Ticks", Doc: "end", Ring: Slot{At: 16, Type: "uint64_t", Name: "end_ticks"},
			Row: Row{Name: "EndNs", Type: "int64", Column: "end_ns", From: Moment}},
		{Name: "Cause", Type: "units.GCCause", Doc: "why the JVM ran the collector, in its own words, empty: not known, or a pause of a concurrent cycle for which the JVM names none. `Profiler` is no collection: the agent changed classes",
			Ring: Slot{At: 4, Type: "uint32_t", Name: "cause", Doc: "units.GCCause"}, Wire: Column{Later: true},
			Row: Row{Type: "string", Column: "cause", Tag: "dict", From: Text}},
		{Name: "Site", Type: "uint32", Doc: "`sites.site` of the program's method that called System.gc(), or what calls it for itself; 0: nobody, or not known",
			Ring: Slot{At: 24, Type: "uint32_t", Name: "site"}, Wire: Column{Newer: true}, Row: Row{Column: "site", Tag: "-"}},
		{Name: "Buffers", Type: "uint8", Doc: "1: the JDK called it, because a direct buffer found no memory",
			Ring: Slot{At: 1, Type: "uint8_t", Name: "buffers"}, Wire: Column{Newer: true}, Row: Row{Type: "uint32", Column: "for_buffers", Tag: "-"}},
	},
}

var executor = Record{
	Name: "Executor", Plural: "Executors", Doc: "Executor describes an executor the first time it is used.",
	Wire:  Wire{Key: "f", Coding: List},
	Table: Table{Name: "executors", Doc: "the executors that submissions and threads name", Order: 11, Note: "If an id has several rows, the place where it was made is in the last row that has one, and so is what it was given."},
	Fields: []Field{
		id("executor", "id within the session, never reused"),
		{Name: "Class", Type: "string", Doc: "Java name of its class", Row: Row{Column: "class_name", Tag: "dict"}},
		{Name: "Name", Type: "string", Doc: "its name, empty: none", Row: Row{Column: "name"}},
		{Name: "MadeIn", Type: "string", Doc: "the program's method that constructed it, empty: not known",
			Wire: Column{What: "made in", Later: true}, Row: Row{Column: "made_in"}},
		{Name: "File", Type: "string", Doc: "source file of that method, empty: the class file does not say", Wire: Column{Later: true}, Row: Row{Column: "file", Tag: "dict"}},
		{Name: "Line", Type: "int32", Doc: "line, 0: the class file does not say", Wire: Column{Later: true}, Row: Row{Column: "line", Tag: "-"}},
		{Name: "Core", Type: "int32", Doc: "of a ThreadPoolExecutor, as its latest worker began: its core size", Wire: Column{Newer: true}, Row: Row{Column: "core", Tag: "-"}},
		{Name: "Maximum", Type: "int32", Doc: "the most workers that it may have; of a ForkJoinPool its parallelism; 0: not known", Wire: Column{Newer: true}, Row: Row{Column: "maximum", Tag: "-"}},
		{Name: "Queue", Type: "string", Doc: "class of its queue, empty: not known", Wire: Column{Newer: true}, Row: Row{Column: "queue", Tag: "dict"}},
		{Name: "Bound", Type: "int32", Doc: "the most tasks that its queue holds, 2147483647: any number; 0: not known, or none", Wire: Column{Newer: true}, Row: Row{Column: "bound", Tag: "-"}},
		{Name: "RemovesCancelled", Type: "bool", Doc: "a ScheduledThreadPoolExecutor that removes cancelled tasks from its queue", Wire: Column{Newer: true}, Row: Row{Column: "removes_cancelled", Tag: "-"}},
		{Name: "AsyncMode", Type: "bool", Doc: "a ForkJoinPool whose workers run what they submit in order", Wire: Column{Newer: true}, Row: Row{Column: "async_mode", Tag: "-"}},
	},
}

// siteFields are those of a call site, and of a frame.
func siteFields(column, method string) []Field {
	return []Field{
		id(column, "id within the session, never reused; 0 is none"),
		{Name: "Class", Type: "string", Doc: "Java name, empty: not known", Row: Row{Column: "class_name", Tag: "dict"}},
		{Name: "Method", Type: "string", Doc: "method, empty: not known", Row: Row{Column: "method", Tag: method}},
		{Name: "File", Type: "string", Doc: "source file, empty: the class file does not say", Row: Row{Column: "file", Tag: "dict"}},
		{Name: "Line", Type: "int32", Doc: "line, 0: the class file does not say", Row: Row{Column: "line", Tag: "-"}},
	}
}

var siteRecord = Record{
	Name: "Site", Plural: "Sites", Doc: "Site is a call site: where in the source tasks are created, submitted or executed.",
	Wire:  Wire{Key: "g", Coding: List},
	Table: Table{Name: "sites", Doc: "the call sites that executions, creations and submissions name", Order: 12, Note: "The last row of an id counts."},
	Fields: append(siteFields("site", ""),
		Field{Name: "Calls", Type: "string", Doc: "the method called there, empty: none, or not known", Wire: Column{Later: true}, Row: Row{Column: "calls", Tag: "dict"}},
		Field{Name: "Function", Type: "string", Doc: "the program's method that a lambda or method reference given to that call stands for, empty: none, or not known",
			Wire: Column{Later: true}, Row: Row{Column: "function"}}),
}

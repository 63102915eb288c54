package jvm

// entry names a counter that users ask for. unit and counter are given where the file is silent or wrong.
type entry struct {
	name, doc string
	unit      string
	counter   bool
	plain     bool // a plain count, whatever the file says
	accrued   bool // see monitor.Declaration
}

// known are the counters with names of their own, by HotSpot's name. All others are vm.counter.NAME.
var known = map[string]entry{
	"java.ci.totalTime":       {name: "vm.jit.time_ns", doc: "time of the compiler threads in compilations; it grows at the end of each"},
	"sun.ci.totalCompiles":    {name: "vm.jit.compilations", doc: "compilations that have ended"},
	"sun.ci.osrCompiles":      {name: "vm.jit.osr_compilations", doc: "of these, those of running loops (on-stack replacement)"},
	"sun.ci.osrTime":          {name: "vm.jit.osr_time_ns", doc: "time of compilations of running loops"},
	"sun.ci.standardCompiles": {name: "vm.jit.standard_compilations", doc: "of these, those of whole methods"},
	"sun.ci.standardTime":     {name: "vm.jit.standard_time_ns", doc: "time of compilations of whole methods"},
	"sun.ci.totalBailouts":    {name: "vm.jit.bailouts", doc: "compilations that the compiler gave up"},
	"sun.ci.totalInvalidates": {name: "vm.jit.invalidations", doc: "compilations that were thrown away at once"},
	"sun.ci.nmethodCodeSize":  {name: "vm.jit.code_bytes", doc: "machine code made so far, without its data", unit: "bytes", counter: true},
	"sun.ci.nmethodSize":      {name: "vm.jit.nmethod_bytes", doc: "compiled methods made so far, with their data", unit: "bytes", counter: true},
	"sun.ci.standardBytes":    {name: "vm.jit.standard_bytecode_bytes", doc: "bytecode of the whole methods compiled, without what was inlined", unit: "bytes", counter: true},

	"java.cls.loadedClasses":         {name: "vm.classes.loaded", doc: "classes loaded, without those of the shared archive"},
	"java.cls.sharedLoadedClasses":   {name: "vm.classes.shared_loaded", doc: "classes loaded from the shared archive (CDS)"},
	"java.cls.unloadedClasses":       {name: "vm.classes.unloaded", doc: "classes unloaded, without those of the shared archive"},
	"sun.cls.time":                   {name: "vm.classes.load_time_ns", doc: "time in loading classes, all threads"},
	"sun.cls.classInitTime":          {name: "vm.classes.init_time_ns", doc: "time in static initialisers, with those they cause"},
	"sun.cls.classInitTime.self":     {name: "vm.classes.init_self_time_ns", doc: "time in static initialisers alone"},
	"sun.cls.classLinkedTime":        {name: "vm.classes.link_time_ns", doc: "time in linking classes"},
	"sun.cls.classVerifyTime":        {name: "vm.classes.verify_time_ns", doc: "time in verifying classes"},
	"sun.cls.initializedClasses":     {name: "vm.classes.initialized", doc: "classes initialised"},
	"sun.cls.linkedClasses":          {name: "vm.classes.linked", doc: "classes linked"},
	"sun.cls.verifiedClasses":        {name: "vm.classes.verified", doc: "classes verified"},
	"sun.cls.defineAppClasses":       {name: "vm.classes.defined_by_loaders", doc: "classes defined by the program's class loaders", plain: true},
	"sun.cls.unsafeDefineClassCalls": {name: "vm.classes.unsafe_defined", doc: "classes defined by Unsafe"},
	"sun.cls.loadedBytes":            {name: "vm.classes.loaded_bytes", doc: "size of the classes loaded"},

	"java.threads.live":    {name: "vm.threads.live", doc: "platform threads that live"},
	"java.threads.daemon":  {name: "vm.threads.daemon", doc: "of these, daemons"},
	"java.threads.started": {name: "vm.threads.started", doc: "platform threads started"},

	"sun.rt.safepoints":        {name: "vm.safepoint.count", doc: "safepoints: all Java threads were stopped"},
	"sun.rt.safepointTime":     {name: "vm.safepoint.time_ns", doc: "time at safepoints; it grows at the end of each"},
	"sun.rt.safepointSyncTime": {name: "vm.safepoint.sync_time_ns", doc: "time from the request of a safepoint until all threads had stopped"},
	"sun.rt.applicationTime":   {name: "vm.application_time_ns", doc: "time between safepoints; it grows at the begin of each", accrued: true},

	"sun.threads.vmOperationTime":              {name: "vm.operation_time_ns", doc: "time of the VM thread in operations"},
	"sun.threads.cpu_time.vm":                  {name: "vm.cpu.vm_thread_ns", doc: "CPU time of the VM thread; the JVM updates it now and then", accrued: true},
	"sun.threads.cpu_time.gc_parallel_workers": {name: "vm.cpu.gc_workers_ns", doc: "CPU time of the collector's workers, updated at collections"},
	"sun.threads.cpu_time.gc_conc_mark":        {name: "vm.cpu.gc_marking_ns", doc: "CPU time of G1's concurrent marking, updated at collections", accrued: true},
	"sun.threads.cpu_time.gc_conc_refine":      {name: "vm.cpu.gc_refinement_ns", doc: "CPU time of G1's concurrent refinement, updated at collections", accrued: true},
	"sun.threads.cpu_time.gc_service":          {name: "vm.cpu.gc_service_ns", doc: "CPU time of G1's service thread, updated at collections", accrued: true},
	"sun.threads.total_gc_cpu_time":            {name: "vm.gc.cpu_ns", doc: "CPU time of the collector's threads, updated at collections"},
	"sun.gc.metaspace.used":                    {name: "vm.metaspace.used_bytes", doc: "metaspace in use; updated at collections"},
	"sun.gc.metaspace.capacity":                {name: "vm.metaspace.committed_bytes", doc: "metaspace committed; updated at collections"},
	"sun.gc.compressedclassspace.used":         {name: "vm.class_space.used_bytes", doc: "class space in use; updated at collections"},
	"sun.gc.compressedclassspace.capacity":     {name: "vm.class_space.committed_bytes", doc: "class space committed; updated at collections"},
	"sun.gc.tlab.fills":                        {name: "vm.tlab.fills", doc: "buffers that threads took for allocation before the latest collection"},
	"sun.gc.tlab.slowAlloc":                    {name: "vm.tlab.slow_allocations", doc: "allocations outside of such buffers before the latest collection"},
	"sun.gc.tlab.allocThreads":                 {name: "vm.tlab.threads", doc: "threads that allocated before the latest collection"},
	"sun.rt._sync_ContendedLockAttempts":       {name: "vm.sync.contended_attempts", doc: "attempts to enter a monitor that another thread held (JDK 17; later ones do not count them)"},
	"sun.rt._sync_FutileWakeups":               {name: "vm.sync.futile_wakeups", doc: "threads woken for a monitor that they did not get (JDK 17)"},
	"sun.rt._sync_Parks":                       {name: "vm.sync.parks", doc: "threads that began to wait for a monitor (JDK 17)"},
	"sun.rt._sync_Notifications":               {name: "vm.sync.notifications", doc: "threads woken by notify (JDK 17)"},
	"sun.rt._sync_Inflations":                  {name: "vm.sync.inflations", doc: "monitors made for objects (JDK 17)"},
	"sun.rt._sync_Deflations":                  {name: "vm.sync.deflations", doc: "monitors taken from objects again (JDK 17)"},
	"sun.rt._sync_MonExtant":                   {name: "vm.sync.monitors", doc: "monitors that exist (JDK 17)"},
}

// repeats are counters that say what another one says, or only the time.
var repeats = map[string]bool{"sun.os.hrt.ticks": true}

package options

import (
	"slices"
	"strings"

	"stackagent/internal/label"
	"stackagent/internal/settings"
)

// Option declares one option of the agent. The agent's parser, the flags of shadow run and shadow
// attach, and the table in the user guide all come from this declaration.
type Option struct {
	Key     string // in the agent's option string
	Flag    string // of the verbs; "": the option has none
	Verbs   Verbs  // that have the flag
	Value   string // what a value looks like, in the help; "" for true and false
	Default string // "": none, or it depends on the machine
	Help    string // one line for the help and the guide
	See     string // page of docs/ that says more; "": none
	Repeat  bool   // may be given more than once
	Secret  bool   // messages leave its value out
	Plan    bool   // how classes are changed depends on it

	set setter
}

// Verbs is a set of verbs of the command.
type Verbs uint8

// The verbs that pass options to the agent.
const (
	Run Verbs = 1 << iota
	Attach
)

// A setter checks a value and puts it into o. It returns what is wrong, "" if nothing is.
type setter func(o *Options, value string) (problem string)

// all is every option, in the order of the guide.
var all = []Option{
	{Key: "bus", Flag: "bus", Verbs: Attach, Value: "URL", Default: DefaultBus, Secret: true, set: setBus,
		Help: "NATS URL of the bus; join several with ';'"},
	{Key: "session", Flag: "session", Verbs: Attach, Value: "NAME", set: setSession,
		Help: "name of the session on the bus (default: host-pid-start)"},
	{Key: "service", Flag: "service", Verbs: Run | Attach, Value: "NAME", See: "labels.md", set: named(func(l *label.Labels) *string { return &l.Service }),
		Help: "service that the JVM belongs to (default: $" + label.VarService + ", then service.name of $" + label.VarAttributes + ")"},
	{Key: "version", Flag: "version", Verbs: Run | Attach, Value: "VERSION", See: "labels.md", set: named(func(l *label.Labels) *string { return &l.Version }),
		Help: "version of the service (default: service.version of $" + label.VarAttributes + ")"},
	{Key: "env", Flag: "env", Verbs: Run | Attach, Value: "NAME", See: "labels.md", set: named(func(l *label.Labels) *string { return &l.Env }),
		Help: "environment, for example production (default: deployment.environment.name of $" + label.VarAttributes + ")"},
	{Key: "instance", Flag: "instance", Verbs: Run | Attach, Value: "NAME", See: "labels.md", set: named(func(l *label.Labels) *string { return &l.Instance }),
		Help: "instance of the service (default: service.instance.id of $" + label.VarAttributes + ", then $" + label.VarPod + ", then host-pid)"},
	{Key: "label", Flag: "label", Verbs: Run | Attach, Value: "KEY:VALUE", Repeat: true, See: "labels.md", set: setLabel,
		Help: "one more label of the session, at most 16; repeatable"},
	{Key: "token", Value: "TOKEN", Secret: true, set: str(func(o *Options) *string { return &o.Token }),
		Help: "token of the bus; every user of the machine can read a command line, so prefer tokenfile"},
	{Key: "tokenfile", Flag: "token-file", Verbs: Attach, Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.TokenFile }),
		Help: "file with the bus's token or the seed of an NKEY; the JVM's user must be able to read it (default: $" + TokenVariable + ")"},
	{Key: "user", Value: "NAME", See: "operations.md", set: str(func(o *Options) *string { return &o.User }),
		Help: "user of the bus; goes with passwordfile or $" + PasswordVariable},
	{Key: "passwordfile", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.PasswordFile }),
		Help: "file with the user's password"},
	{Key: "nkey", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.NKey }),
		Help: "file with the seed of an NKEY"},
	{Key: "creds", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.Creds }),
		Help: "NATS credentials file (JWT)"},
	{Key: "tlsca", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.TLSCA }),
		Help: "PEM file with the authorities that may sign the bus's certificate"},
	{Key: "tlscert", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.TLSCert }),
		Help: "PEM file with the agent's certificate; goes with tlskey"},
	{Key: "tlskey", Value: "FILE", See: "operations.md", set: str(func(o *Options) *string { return &o.TLSKey }),
		Help: "PEM file with the certificate's key"},
	{Key: "busowner", Value: "UID", See: "internals/security.md", set: setBusOwner,
		Help: "user who may hold the bus's port on this machine beside the JVM's user, root and the owner of the secret's file; any: do not check"},
	{Key: "spool", Value: "FOLDER", See: "internals/format-spool.md", set: setSpool,
		Help: "folder for batches that wait for the bus (default: stackagent-spool-UID in the temporary folder); off: no file"},
	{Key: "spoolsize", Value: "SIZE", Default: "256M", set: size(func(o *Options) *int64 { return &o.SpoolBytes }, 1<<20, 64<<30, "want a size from 1M to 64G"),
		Help: "largest size of the spool file, 1M to 64G"},
	{Key: "buffer", Value: "SIZE", Default: "64M", set: size(func(o *Options) *int64 { return &o.Buffer }, 1<<20, 4<<30, "want a size from 1M to 4G"),
		Help: "memory for batches that wait for the bus, 1M to 4G"},
	{Key: "observer", Value: "auto|off|TIME", Default: "auto", See: "live.md", set: setObserver,
		Help: "announce the JVM to an observer on its host (shadow serve, shadow observe) before the program starts. auto: the program waits up to 100ms for the answer if an observer answered an earlier JVM of this user; TIME: it always waits up to TIME, from 1ms to 10s; off: no announcement"},
	{Key: "plans", Flag: "plans", Verbs: Run | Attach, Value: "FOLDER|off", See: "internals/format-plans.md", set: setPlans,
		Help: "folder where the agent keeps how it changed classes, so that the next run starts faster (default: stackagent-plans-UID in the temporary folder); off: keep nothing"},
	{Key: "metric", Flag: "metric", Verbs: Run | Attach, Value: "M+M", Default: "wall+cpu", See: "metrics.md", set: setMetric,
		Help: "metrics to measure, joined by +: wall, cpu, instructions, ref_cycles, cycles, bytecodes, alloc, or a performance event such as LLC-load-misses"},
	{Key: "task", Flag: "task", Verbs: Run | Attach, Value: "CLASS#METHOD", Repeat: true, Plan: true, set: setTask,
		Help: "one more kind of task: CLASS#METHOD, CLASS#METHOD(DESCRIPTOR), or those of a framework: @kafka, ... (see the guide); repeatable"},
	{Key: "include", Flag: "include", Verbs: Run | Attach, Value: "GLOB", Repeat: true, Plan: true, set: globs(func(o *Options) *[]string { return &o.Include }),
		Help: "record only classes whose Java name matches; join several with ';'; repeatable"},
	{Key: "exclude", Flag: "exclude", Verbs: Run | Attach, Value: "GLOB", Repeat: true, Plan: true, set: globs(func(o *Options) *[]string { return &o.Exclude }),
		Help: "do not record classes whose Java name matches; join several with ';'; repeatable"},
	{Key: "detail", Flag: "detail", Verbs: Run | Attach, Value: "auto|timed|all|summary", Default: "auto", set: choice(func(o *Options) *settings.Detail { return &o.Detail }, settings.DetailAuto, settings.DetailTimed, settings.DetailAll, settings.DetailSummary),
		Help: "a record per task (all), a summary per class and thread (summary), or records until a class is too fast (auto). With auto a thread that executes a class more than a million times a second counts each execution and times a random part; timed: it times each"},
	{Key: "overflow", Flag: "overflow", Verbs: Run | Attach, Value: "block|drop", Default: "block", set: choice(func(o *Options) *settings.Overflow { return &o.Overflow }, settings.OverflowBlock, settings.OverflowDrop),
		Help: "what a thread does when its records find no room: wait at most 20 ms in each second (900 ms with detail=all), then drop; or drop at once. Drops are counted"},
	{Key: "strict", Flag: "strict", Verbs: Run, Default: "false", set: boolean(func(o *Options) *bool { return &o.Strict }),
		Help: "do not start a JVM that cannot be profiled"},
	{Key: "submissions", Flag: "submissions", Verbs: Run | Attach, Default: "true", See: "submissions.md", Plan: true, set: boolean(func(o *Options) *bool { return &o.Submissions }),
		Help: "record submissions of tasks to executors, and queue times"},
	{Key: "sites", Flag: "sites", Verbs: Run | Attach, Default: "true", See: "submissions.md", Plan: true, set: boolean(func(o *Options) *bool { return &o.Sites }),
		Help: "record the call sites that create and submit tasks"},
	{Key: "contexts", Flag: "contexts", Verbs: Run | Attach, Value: "all|N", Default: "0", See: "contexts.md", set: setContexts,
		Help: "record the whole stack of each creation, submission and execution (all), of one in N, or of none (0)"},
	{Key: "wait", Flag: "wait", Verbs: Run | Attach, Value: "TIME", Default: "50us", Plan: true, set: setWait,
		Help: "record each wait of a thread that is at least so long: for a lock, in Object.wait, parked, asleep; shorter ones are summed up. off: no waits"},
	{Key: "traces", Flag: "traces", Verbs: Run | Attach, Value: "auto|off", Default: "auto", See: "traces.md", Plan: true, set: choice(func(o *Options) *settings.Traces { return &o.Traces }, settings.TracesAuto, settings.TracesOff),
		Help: "record in which trace and span tasks are handed over and executed, if the program loads OpenTelemetry's API or its Java agent; off: no"},
	{Key: "construction", Flag: "construction", Verbs: Run | Attach, Default: "false", Plan: true, set: boolean(func(o *Options) *bool { return &o.Construction }),
		Help: "measure the cost of task constructors"},
	{Key: "allocations", Flag: "allocations", Verbs: Run | Attach, Default: "true", See: "metrics.md", set: boolean(func(o *Options) *bool { return &o.Allocations }),
		Help: "estimate which tasks allocate how much, by a sample of about one object in 2 MB"},
	{Key: "samples", Flag: "samples", Verbs: Run | Attach, Default: "true", See: "advice.md", set: boolean(func(o *Options) *bool { return &o.Samples }),
		Help: "sample the stacks of busy threads: where classes compute, and which threads poll without a pause, run stages of futures, initialise classes, or reach safepoints late"},
	{Key: "monitor", Flag: "monitor", Verbs: Run | Attach, Value: "SPEC", Repeat: true, See: "monitors.md", set: setMonitor,
		Help: "read a monitor inside the JVM: a field CLASS#FIELD, calls:CLASS#METHOD, returns:CLASS#METHOD, jmx:MBEAN/ATTRIBUTE, registries (Micrometer, Dropwizard) or inside (pools, class libraries); repeatable"},
	{Key: "monitorinterval", Value: "TIME", Default: "10ms", See: "monitors.md", set: setMonitorInterval,
		Help: "time between samples of these monitors, 1ms to 1s"},
	{Key: "children", Default: "false", set: boolean(func(o *Options) *bool { return &o.Children }),
		Help: "profile the JVMs that this JVM starts, too; shadow run sets it"},
}

// byKey are the options by Key.
var byKey = func() map[string]*Option {
	m := make(map[string]*Option, len(all))
	for i := range all {
		m[all[i].Key] = &all[i]
	}
	return m
}()

// All returns every option.
func All() []Option { return slices.Clone(all) }

// Of returns the options that verb has a flag for.
func Of(verb Verbs) []Option {
	return slices.DeleteFunc(All(), func(o Option) bool { return o.Verbs&verb == 0 })
}

// Switch reports whether the option's value is true or false.
func (o *Option) Switch() bool { return o.Value == "" }

// Check returns what is wrong with a value, nil if nothing is.
func (o *Option) Check(value string) error {
	if problem := o.problem(new(Options), value); problem != "" {
		return &Error{Key: o.Key, Value: value, Problem: problem}
	}
	return nil
}

// problem puts value into to and returns what is wrong with it, "" if nothing is.
func (o *Option) problem(to *Options, value string) string {
	if strings.ContainsRune(value, 0) {
		return "holds a zero byte"
	}
	return o.set(to, value)
}

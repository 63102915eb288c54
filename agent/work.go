package agent

import (
	"maps"
	"slices"
	"syscall"

	"stackagent/agent/options"
	"stackagent/internal/perfevent"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// bytecodes is the metric of the JVM instructions that a task executes.
const bytecodes = "bytecodes"

// sources are the metrics, besides wall and CPU time, that are no performance events.
var sources = map[string]jvmti.WorkSource{bytecodes: jvmti.WorkBytecodes, "alloc": jvmti.WorkAlloc}

// work is what the options ask for besides wall and CPU time, in their order.
func work(o *options.Options) []jvmti.Work {
	var list []jvmti.Work
	for _, name := range o.Extras() {
		w := jvmti.Work{Name: name}
		if source, ok := sources[name]; ok {
			w.Source = source
		} else if i := slices.IndexFunc(o.Events, func(e perfevent.Event) bool { return e.Name == name }); i >= 0 {
			e := o.Events[i]
			w.Source, w.Type, w.Config, w.UserOnly, w.Narrow = jvmti.WorkCounter, e.Type, e.Config, e.UserOnly, e.Narrow
			w.Explain = func(err syscall.Errno) string { return perfevent.Explain(e, err) }
		} else {
			continue // the options know no such metric; TestSources
		}
		list = append(list, w)
	}
	return list
}

// disturbed is the warning of sessions with bytecodes, in Hello.NotAvailable.
const (
	disturbed    = "wall and cpu without the cost of counting"
	disturbedWhy = "metric=bytecodes slows all code down, most of all short methods; for times record a session without it"
)

// describeWork records in h which extra metrics are measured, and why the others are not.
func describeWork(h *wire.Hello, vm jvmti.VM) {
	h.Extra = vm.Extra
	h.NotAvailable = maps.Clone(vm.Refused)
	if slices.ContainsFunc(vm.Extra, func(e wire.Extra) bool { return e.Name == bytecodes }) {
		if h.NotAvailable == nil {
			h.NotAvailable = map[string]string{}
		}
		h.NotAvailable[disturbed] = disturbedWhy
	}
	h.Metrics = slices.DeleteFunc(slices.Clone(h.Metrics), func(m string) bool { return vm.Refused[m] != "" })
}

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

// work is what the options ask for beside wall and CPU time, in their order.
func work(o *options.Options) []jvmti.Work {
	var list []jvmti.Work
	for _, name := range o.Extras() {
		w := jvmti.Work{Name: name}
		i := slices.IndexFunc(o.Events, func(e perfevent.Event) bool { return e.Name == name })
		switch {
		case name == "bytecodes":
			w.Source = jvmti.WorkBytecodes
		case i >= 0:
			e := o.Events[i]
			w.Source, w.Type, w.Config, w.UserOnly, w.Narrow = jvmti.WorkCounter, e.Type, e.Config, e.UserOnly, e.Narrow
			w.Explain = func(err syscall.Errno) string { return perfevent.Explain(e, err) }
		default:
			w.Source = jvmti.WorkAlloc
		}
		list = append(list, w)
	}
	return list
}

// describeWork puts into h what of the extra metrics is measured, and why the
// rest is not.
func describeWork(h *wire.Hello, vm jvmti.VM) {
	h.Extra = vm.Extra
	if len(vm.Refused) == 0 {
		return
	}
	h.NotAvailable = maps.Clone(h.NotAvailable)
	if h.NotAvailable == nil {
		h.NotAvailable = map[string]string{}
	}
	maps.Copy(h.NotAvailable, vm.Refused)
	h.Metrics = slices.DeleteFunc(slices.Clone(h.Metrics), func(m string) bool { return vm.Refused[m] != "" })
}

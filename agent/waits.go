package agent

import (
	"maps"

	"stackagent/agent/instrument"
	"stackagent/agent/options"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// waitSources are the kinds of waits, and the class of the JDK whose code shows them.
var waitSources = []struct{ kind, class string }{
	{"park", "java.util.concurrent.locks.LockSupport"},
}

// describeWaits records in h which waits are recorded. A source that is missing is in NotAvailable as "waits: KIND".
func describeWaits(h *wire.Hello, o *options.Options) {
	h.WaitLimit = units.Ns(o.Wait)
	if o.Wait == 0 {
		return
	}
	filters := (&instrument.Options{Exclude: o.Exclude}).Filters()
	for _, source := range waitSources {
		why := ""
		for _, f := range filters {
			if f.Fits(source.class, true) {
				why = "exclude=" + f.Glob + " leaves " + source.class + " as it is"
			}
		}
		if why == "" {
			h.WaitSources = append(h.WaitSources, source.kind)
			continue
		}
		h.NotAvailable = maps.Clone(h.NotAvailable)
		if h.NotAvailable == nil {
			h.NotAvailable = map[string]string{}
		}
		h.NotAvailable["waits: "+source.kind] = why
	}
}

package agent

import (
	"stackagent/agent/instrument"
	"stackagent/agent/options"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// waitSources are the kinds of waits, and of some the class of the JDK whose code shows them.
var waitSources = []struct{ kind, class string }{
	{"monitor", ""}, {"notify", ""},
	{"park", "java.util.concurrent.locks.LockSupport"},
	{"io", ""}, {"sleep", ""},
}

// describeWaits records in h which waits are recorded. A source that is missing is in NotAvailable as "waits: KIND".
func describeWaits(h *wire.Hello, o *options.Options, sleeps bool) {
	h.WaitLimit = units.Ns(o.Wait)
	if o.Wait == 0 {
		return
	}
	for _, source := range waitSources {
		why := excludedBy(o.Exclude, source.class)
		if source.kind == "sleep" && !sleeps {
			why = "this JDK has a Thread.sleep that the agent does not know"
		}
		if why == "" {
			h.WaitSources = append(h.WaitSources, source.kind)
			continue
		}
		if h.NotAvailable == nil {
			h.NotAvailable = map[string]string{}
		}
		h.NotAvailable["waits: "+source.kind] = why
	}
}

// excludedBy says which glob leaves a class of the JDK as it is, "" if none.
func excludedBy(exclude []string, class string) string {
	for _, f := range (&instrument.Options{Exclude: exclude}).Filters() {
		if class != "" && f.Fits(class, true) {
			return "exclude=" + f.Glob + " leaves " + class + " as it is"
		}
	}
	return ""
}

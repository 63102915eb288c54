package agent

import (
	"stackagent/agent/options"
	"stackagent/internal/settings"
	"stackagent/internal/wire"
)

// describeTraces records in h that the user wants no traces.
func describeTraces(h *wire.Hello, o *options.Options) {
	if o.Traces != settings.TracesOff {
		return
	}
	if h.NotAvailable == nil {
		h.NotAvailable = map[string]string{}
	}
	h.NotAvailable["traces"] = "switched off by traces=off"
}

package agent

import (
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// describeWaits records in h which waits are recorded. A source that this JVM lacks is in NotAvailable as "waits: KIND".
func describeWaits(h *wire.Hello, limit time.Duration, sleeps bool) {
	if h.WaitLimit = units.Ns(limit); limit <= 0 {
		return
	}
	h.WaitSources = []string{"monitor", "notify", "park", "io"}
	if sleeps {
		h.WaitSources = append(h.WaitSources, "sleep")
		return
	}
	if h.NotAvailable == nil {
		h.NotAvailable = map[string]string{}
	}
	h.NotAvailable["waits: sleep"] = "this JDK has a Thread.sleep that the agent does not know"
}

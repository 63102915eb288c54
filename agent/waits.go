package agent

import (
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// describeWaits records in h which waits are recorded. A source that this JVM lacks is in NotAvailable as "waits: KIND".
func describeWaits(h *wire.Hello, limit time.Duration) {
	if h.WaitLimit = units.Ns(limit); limit > 0 {
		h.WaitSources = []string{"park"}
	}
}

package ingest

import (
	"time"

	"stackagent/shadow/bus"
)

// calm reports whether the bus has to be asked what waits on it. Asking takes a millisecond of CPU time in this process,
// which is the server, too; whether anything has come since is in its memory.
type calm struct {
	known bool // the last look found nothing that waits for an owner
	at    time.Time
	stir  bus.Stir  // before the last look
	came  time.Time // when somebody connected last, as far as is known
}

// begin begins a look.
func (c *calm) begin(stir bus.Stir, own bool) {
	c.known, c.at, c.stir = own, time.Now(), stir
}

// disturb makes the next look due.
func (c *calm) disturb() { c.known = false }

// pause is the time until the next look is thought of. Nothing can come while nobody is connected, and a session of
// an agent that has long been connected has its source already; comers: the bus says who connects. (What JVMs have
// left comes from this process, and has time.)
func (c *calm) pause(comers bool) time.Duration {
	switch {
	case !c.known || !comers:
		return lookInterval
	case c.stir.Alone():
		return aloneInterval
	case time.Since(c.came) > settledAfter:
		return settledInterval
	}
	return lookInterval
}

// over reports whether a look is due: something has changed, or the last look was long ago. Of a joined bus nothing is
// known, so that it is asked each time.
func (c *calm) over(stir bus.Stir, own bool) bool {
	return !own || !c.known || stir != c.stir || time.Since(c.at) >= calmInterval
}

package ingest

import (
	"time"

	"stackagent/shadow/collect/bus"
)

// calm reports whether the bus has to be asked what waits on it. Asking takes a millisecond of CPU time in this process,
// which is the server, too; whether anything has come since is in its memory.
type calm struct {
	known    bool // the last look found nothing that waits for an owner
	at       time.Time
	activity bus.Activity // before the last look
	came     time.Time    // when somebody connected last, as far as is known
}

// begin begins a look.
func (c *calm) begin(activity bus.Activity, own bool) {
	c.known, c.at, c.activity = own, time.Now(), activity
}

// disturb makes the next look due.
func (c *calm) disturb() { c.known = false }

// pause is the time until the next look is thought of. Nothing can come while nobody is connected, and a session of
// an agent that has long been connected has its source already; arrivals: the bus reports who connects. (What JVMs have
// left comes from this process, and has time.)
func (c *calm) pause(arrivals bool) time.Duration {
	switch {
	case !c.known || !arrivals:
		return lookInterval
	case c.activity.Alone():
		return aloneInterval
	case time.Since(c.came) > settledAfter:
		return settledInterval
	}
	return lookInterval
}

// over reports whether a look is due: something has changed, or the last look was long ago. Of a joined bus nothing is
// known, so that it is asked each time.
func (c *calm) over(activity bus.Activity, own bool) bool {
	return !own || !c.known || activity != c.activity || time.Since(c.at) >= calmInterval
}

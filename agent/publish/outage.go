package publish

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// outage is a time in which batches can not be delivered. It is told once,
// when it has lasted for the grace, and its end if its beginning was told.
type outage struct {
	grace time.Duration
	say   func(string)
	url   string

	on    bool
	told  bool
	since time.Time
	cause error
}

func (o *outage) begin(now time.Time, cause error) {
	if !o.on {
		o.on, o.told, o.since = true, false, now
	}
	o.cause = cause
}

func (o *outage) tell(now time.Time) {
	if o.on && !o.told && now.Sub(o.since) >= o.grace {
		o.told = true
		o.say(fmt.Sprintf("the bus at %s %s; the program runs on, records wait in memory, trying again and again", o.url, reason(o.cause)))
	}
}

func (o *outage) end() {
	if o.on && o.told {
		o.say(fmt.Sprintf("the bus at %s takes batches again", o.url))
	}
	o.on, o.told = false, false
}

func reason(err error) string {
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return "has no stream for batches (no shadow has joined it yet)"
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return "does not acknowledge batches"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Sprintf("refuses the agent's credentials (%v)", err)
	default:
		return fmt.Sprintf("can not be reached (%v)", err)
	}
}

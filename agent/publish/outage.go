package publish

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
)

// errContested is the error of a batch that the bus calls a duplicate although it was sent for the first time.
var errContested = errors.New("it has other messages under the agent's ids")

// outage is a time in which batches cannot be delivered. It is reported once, after
// the grace; its end is reported if its beginning was.
type outage struct {
	grace time.Duration
	say   func(string)
	url   string

	on       bool
	reported bool
	since    time.Time
	cause    error
}

func (o *outage) begin(now time.Time, cause error) {
	if !o.on {
		o.on, o.reported, o.since = true, false, now
	}
	o.cause = cause
}

func (o *outage) report(now time.Time) {
	if o.on && !o.reported && now.Sub(o.since) >= o.grace {
		o.reported = true
		o.say(fmt.Sprintf("the bus at %s %s; the program runs on, records wait, the agent keeps trying", o.url, reason(o.cause)))
	}
}

func (o *outage) end() {
	if o.on && o.reported {
		o.say(fmt.Sprintf("the bus at %s takes batches again", o.url))
	}
	o.on, o.reported = false, false
}

// refusal reports whether the bus has answered that it does not take a batch now:
// it is there, and may take it soon.
func refusal(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && !errors.Is(err, jetstream.ErrNoStreamResponse)
}

// remedy is what the user can do.
func remedy(err error) string {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return "give the agent the shadow's token with tokenfile="
	case errors.Is(err, busauth.ErrStranger):
		return "find out who listens there; if it is the shadow's user, say so with busowner=ID"
	case refusal(err), errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return "look at the shadow's messages and at the space on its disk"
	default:
		return "start it with `shadow serve`, or the program with `shadow run`"
	}
}

func reason(err error) string {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		return "has no stream for batches (no shadow has joined it yet)"
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return "does not acknowledge batches"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Sprintf("refuses the agent's credentials (%v)", err)
	case errors.As(err, &api):
		return fmt.Sprintf("refuses batches (%s)", api.Description)
	case errors.Is(err, busauth.ErrStranger):
		return fmt.Sprintf("gets nothing from the agent (%v)", err)
	case errors.Is(err, errContested):
		return fmt.Sprintf("is also used by another sender (%v)", err)
	case errors.Is(err, nats.ErrNoServers):
		return "cannot be reached (nothing answers there)"
	default:
		return fmt.Sprintf("cannot be reached (%v)", err)
	}
}

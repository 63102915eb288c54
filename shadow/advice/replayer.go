package advice

import "stackagent/internal/units"

// Replayer replays the whole session with a cause of delay taken away, for findings that are about no pool. Whoever
// reads the session gives one: its graph is not known here.
type Replayer interface {
	// Without returns how long the session took and is expected to take without the cause, or as the error the
	// reason why that cannot be predicted, in words for the user. It is called only if there is a finding about the cause.
	Without(Cause) (recorded, expected units.Ns, err error)
}

// Cause is what delays the whole session.
type Cause string

// The causes.
const (
	ExplicitCollections Cause = "explicit-collections" // collections that the program asks for
	Pins                Cause = "pins"                 // virtual threads that park without leaving their carriers
)

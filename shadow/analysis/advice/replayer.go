package advice

import (
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// Replayer replays the whole session with a change, for findings about which a replay of one pool says nothing. Whoever reads the session gives
// one: its graph is not known here. An error is the reason, in words for the user, why the change's effect cannot be predicted. A
// replayer is asked only about what there is a finding about.
type Replayer interface {
	// Account is the account of the session's time.
	Account() (*account.Session, error)
	// WithoutCollections is how long the session takes without the collections for a reason, which is HotSpot's name.
	WithoutCollections(reason string) (units.Ns, error)
	// Unpinned is how long it takes if its virtual threads never keep their carriers while they wait.
	Unpinned() (units.Ns, error)
}

// SystemGC is HotSpot's name of the reason for collections that the program asks for.
const SystemGC = "System.gc()"

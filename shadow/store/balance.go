package store

// The states of a Balance.
const (
	// BalanceExact: of every thread, what it produced is recorded, summarised
	// or counted as lost.
	BalanceExact = "exact"
	// BalanceDiffers: of the threads in Differ it is not.
	BalanceDiffers = "differs"
	// BalanceUnknown: what was produced is not known thread by thread; Why says why.
	BalanceUnknown = "not known"
)

// MaxDiffer is how many threads a Balance lists.
const MaxDiffer = 100

// Balance is the account of a session thread by thread:
//
//	produced = recorded + summarised + lost + missing
//
// It is made from what lies on the disk when the session ends. Counts are of
// events, that is of executions and creations.
type Balance struct {
	State string `json:"state"`         // one of the Balance constants
	Why   string `json:"why,omitempty"` // of a balance that is not known or differs, a sentence

	// Threads is how many threads were held against their own count; all
	// virtual threads together are one of them. Uncounted is how many were held
	// together against what the others leave of the sums, as the agent did not
	// report their own counts.
	Threads   uint64 `json:"threads"`
	Uncounted uint64 `json:"uncounted"`

	Sum ThreadBalance `json:"sum"` // over all threads

	// Unexplained is by how many events all threads together differ: of each,
	// what is stored twice, or is neither stored nor counted as lost. 0 when exact.
	Unexplained uint64 `json:"unexplained"`
	// Differing is how many threads differ; Differ lists them by thread, at most MaxDiffer.
	Differing uint64          `json:"differing"`
	Differ    []ThreadBalance `json:"differ,omitempty"`
	// AtLeastLost is known to be lost where the state is not known.
	AtLeastLost uint64 `json:"at_least_lost,omitempty"`
}

// ThreadBalance is a line of a Balance.
type ThreadBalance struct {
	// Thread is the id; 0: virtual threads together, or the uncounted ones
	// where Uncounted is set, or the sum.
	Thread    uint32 `json:"thread"`
	Uncounted bool   `json:"uncounted,omitempty"`

	Produced   Counts `json:"produced"`
	Recorded   Counts `json:"recorded"`   // rows
	Summarised Counts `json:"summarised"` // held by summaries only
	Lost       uint64 `json:"lost"`       // counted as lost, thread by thread
	// Missing is Produced - Recorded - Summarised - Lost. In a session with
	// batches that never came, or with losses that could not be counted thread by
	// thread, it is theirs as long as the sum over all threads is not greater.
	Missing int64 `json:"missing"`
}

// ThreadCounts is what a thread or several produced, and of that lost before
// it became a batch.
type ThreadCounts struct {
	Counts
	Lost uint64 `json:"lost"` // events, for want of room in a ring
}

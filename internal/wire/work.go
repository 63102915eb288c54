package wire

// Limits on the extra metrics of a session.
const MaxExtra = 8

// Work holds the extra metrics of a batch's records in columns, one for each
// entry of Hello.Extra, or none at all where there are no extra metrics. Each
// column is as long as the records it belongs to; a value that was not
// measured is units.NotMeasured.
type Work struct {
	Total  [][]int64 // between start and end of the execution (or construction)
	Nested [][]int64 // of this, in the executions nested directly in it; empty for constructions
}

// NoSubmission are the flags of records that are no submissions.
const NoSubmission = Cancelled | Asked | Forgotten

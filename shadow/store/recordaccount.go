package store

// RecordAccount is the account of the submissions, constructions or traces of a session:
//
//	produced = stored + summarised + lost + in gaps (+ unaccounted)
type RecordAccount struct {
	Produced uint64 `json:"produced"` // by the agent's own count
	Stored   uint64 `json:"stored"`   // rows in the parts
	// Summarised stands for those that are in summaries only: submissions with all
	// that is counted of them, constructions as creations, without what they cost.
	Summarised uint64 `json:"summarised,omitempty"`
	Lost       uint64 `json:"lost"`    // that the agent itself could not deliver
	InGaps     uint64 `json:"in_gaps"` // of batches that never arrived
	// Unaccounted is what the others leave of a session that ended cleanly,
	// where no batch is missing. Anything but 0 is a bug in stackagent.
	Unaccounted int64 `json:"unaccounted"`
}

// settle makes the sums agree.
func (h *RecordAccount) settle(gaps, ended bool) {
	if h == nil {
		return
	}
	diff := int64(h.Produced) - int64(h.Stored) - int64(h.Summarised) - int64(h.Lost)
	h.InGaps, h.Unaccounted = 0, 0
	switch {
	case gaps && diff > 0:
		h.InGaps = uint64(diff)
	case ended:
		h.Unaccounted = diff
	}
}

// account counts the rows of t, and what summaries hold, into its account, a copy of h.
func (w *Writer) account(h *RecordAccount, t Table, summarised uint64) *RecordAccount {
	if h == nil && w.stored[t]+summarised == 0 {
		return nil
	}
	n := RecordAccount{}
	if h != nil {
		n = *h
	}
	n.Stored, n.Summarised = w.stored[t], summarised
	return &n
}

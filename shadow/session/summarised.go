package session

// summaries counts what came too fast to be recorded one by one.
func (t *tally) summaries() error { return nil }

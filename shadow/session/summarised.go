package session

// summaries counts what came too fast to be recorded one by one. Agents that
// summarise also tell which execution is the first of its task.
func (t *tally) summaries() error {
	return t.s.Summaries(func(x *Summary) error {
		c := t.of(x.Class)
		c.Executions += x.Executions
		c.Threw += x.Threw
		c.Distinct += x.First
		c.first += x.First
		c.Created += x.Creations
		c.Failed += x.Failed
		c.takenBack += x.Failed + x.Withdrawn
		t.told = true
		return nil
	})
}

package summary

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// withQueue gives src its queue times as one more further metric, so that they
// have distributions like any other. A session without hand-overs has none; of
// those that were summarised the queue times are in the summaries.
func withQueue(src Source) Source {
	k := len(src.Manifest.Extra)
	known := src.Manifest.Rows[store.Submissions.String()] > 0 || src.Manifest.Submissions != nil && src.Manifest.Submissions.Summarised > 0
	if !known || k >= maxFurther {
		return src
	}
	extra := append(slices.Clone(src.Manifest.Extra), store.ExtraMetric{Name: "queue", Unit: "ns", Column: granularity.QueueName})
	src.Manifest.Extra = extra
	if found := src.Found; found != nil {
		src.Found = func() (store.Manifest, []string) {
			m, warnings := found()
			m.Extra = extra
			return m, warnings
		}
	}
	total, self := store.ExecutionExtra(k), store.ExecutionSelfExtra(k)
	executions := src.Executions
	src.Executions = func(want store.Columns, use func(int, *session.Chunk) error) error {
		if want&(total|self) == 0 {
			return executions(want, use)
		}
		return executions(want&^(total|self)|store.ExecutionQueue, func(worker int, c *session.Chunk) error {
			mine := *c
			mine.Extra = append(slices.Clone(c.Extra), make([][]units.Ns, max(0, k-len(c.Extra)))...)
			mine.Extra = append(mine.Extra[:k:k], c.QueueNs)
			mine.SelfExtra = append(slices.Clone(c.SelfExtra), make([][]units.Ns, max(0, k+1-len(c.SelfExtra)))...)
			return use(worker, &mine)
		})
	}
	return src
}

// maxFurther is how many further metrics there is room for in store.Columns.
const maxFurther = 24

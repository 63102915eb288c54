package wait

import (
	"fmt"
	"slices"
	"sync"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/waiting"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// NoSummed is the key in Analysis.NotAvailable for waits of which it is not known in which trace they were.
const NoSummed = "short waits"

// AnalyseTrace is Analyse, or AnalyseSingles, for the waits inside executions of a trace, as far as they were recorded one by one. It
// has only Rows and Singles: of the time beside waits nothing is known by trace.
func AnalyseTrace(s *session.Session, trace *session.TraceScan, singles bool) (*Analysis, error) {
	a, err := analyse(s, singles, granularity.Grid{})
	if err != nil {
		return nil, err
	}
	if err := a.keepTrace(trace); err != nil {
		return nil, fmt.Errorf("waits of a trace of session %s: %w", s.Manifest.Session, err)
	}
	var waits int64
	var waited units.Ns
	for _, x := range a.sums {
		waits, waited = waits+x.waits, waited+x.waited
	}
	delete(a.NotAvailable, NoRecord)
	if waits > 0 && trace.Any() {
		a.NotAvailable[NoSummed] = fmt.Sprintf("%s, %s in all, not recorded one by one: in which trace is not known", text.PluralExact(waits, "wait", "waits"), units.FormatNs(waited))
	}
	a.sums, a.record, a.pauses, a.byClass, a.threads, a.virtual = nil, nil, nil, nil, nil, nil
	return a, nil
}

// keepTrace leaves the waits of which the innermost execution is of the trace. Those in the loop of a worker are not its tasks'.
func (a *Analysis) keepTrace(trace *session.TraceScan) error {
	extents, err := extentsOf(trace)
	if err != nil {
		return err
	}
	may := slices.DeleteFunc(a.waits, func(w waiting.Wait) bool {
		at, ok := extents[w.Thread]
		return !ok || w.From < at.From || w.From > at.To
	})
	kept := may[:0]
	for chunk := range slices.Chunk(may, atOnce) {
		who := make([]Doing, len(chunk))
		q := asks{Analysis: a, list: make([]ask, 0, len(chunk))}
		for i := range chunk {
			q.at(chunk[i].Thread, chunk[i].From, &who[i])
			q.list[i].class = chunk[i].Within
		}
		if err := q.find(); err != nil {
			return err
		}
		for i := range q.list {
			x := &q.list[i]
			recorded := x.class == 0 || x.class == x.found.class // else it was in one without a record of its own
			if e := &x.found; recorded && e.task != 0 && !q.isLoop(e.class) && trace.Of(e.task, e.start, e.end) {
				x.to.TaskID = e.task
			}
		}
		for i := range chunk {
			if who[i].TaskID != 0 {
				kept = append(kept, chunk[i])
			}
		}
	}
	a.waits = kept
	for id, at := range a.spans {
		a.spans[id] = [2]span{{}, at[1]}
	}
	spansOf(a.waits, func(w *waiting.Wait) uint32 { return w.Thread }, func(id uint32, at span) { a.spans[id] = [2]span{at, a.spans[id][1]} })
	return nil
}

// extentsOf is the time of each thread that has all its executions of the trace.
func extentsOf(trace *session.TraceScan) (map[uint32]activity.Span, error) {
	out := map[uint32]activity.Span{}
	var mu sync.Mutex
	err := trace.Scan(store.ExecutionThread, func(_ int, c *session.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for i, thread := range c.Thread {
			end := c.EndNs[i]
			if end == 0 {
				end = units.MonoNs(1<<63 - 1)
			}
			at, ok := out[thread]
			if !ok {
				at = activity.Span{From: c.StartNs[i], To: end}
			}
			out[thread] = activity.Span{From: min(at.From, c.StartNs[i]), To: max(at.To, end)}
		}
		return nil
	})
	return out, err
}

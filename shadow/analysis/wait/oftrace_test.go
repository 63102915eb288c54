package wait

import (
	"strings"
	"testing"

	"stackagent/shadow/store"
)

// TestTrace: a wait is of the trace in which the innermost execution around it was. Of known, the requests of 10..40 and 50..80 are of one
// trace, the one of 5..45 is of another, and one of 24..32 inside the first, in which that waits for the monitor, is of the other, too. A wait
// of 34..36 was in a fast task, of which no trace is known. Neither is of the short waits, nor of the worker without work, whose loop
// is of the first trace.
func TestTrace(t *testing.T) {
	p := known()
	first, second := strings.Repeat("a", 32), strings.Repeat("b", 32)
	inner, loop := p.Executions[0], p.Executions[0]
	inner.TaskID, inner.OuterTaskID, inner.Depth, inner.StartNs, inner.EndNs, inner.WallNs, inner.SelfWallNs = 20, 10, 1, at(24), at(32), 8*ms, 8*ms
	loop.TaskID, loop.Class, loop.StartNs, loop.EndNs, loop.WallNs, loop.SelfWallNs = 30, 2, at(1), at(99), 98*ms, 98*ms
	p.Executions = append(p.Executions, inner, loop)
	p.Waits = append(p.Waits, store.Wait{Kind: "sleep", Thread: 2, StartNs: int64(at(34)), EndNs: int64(at(36)), Within: 3})
	for task, id := range map[uint64]string{10: first, 12: first, 11: second, 20: second, 30: first} {
		p.TaskTraces = append(p.TaskTraces, store.TaskTrace{TaskID: task, Kind: store.TraceSubmission, AtNs: int64(at(1)), TraceID: id, SpanID: "00000000000000a1"})
	}
	s := openIn(t, p, nil)
	for trace, want := range map[string]struct{ rows, singles []string }{
		first: {[]string{
			`synchronizer Semaphore "a.Request.run:9": 1 10 10, by a.Request, held by -`, `io socket, pipe or file "": 1 15 15, by -, held by -`, `carrier carrier of virtual threads "": 1 5 5, by -, held by -`,
		}, []string{"55 socket, pipe or file 15: 4/12.1 a.Request, by -, held by -", "12 Semaphore 10: 2/10.1 a.Request, by 3/0.0 a.Request, held by -"}},
		second: {[]string{
			`monitor a.Db "": 1 6 6, by -, held by -`, `synchronizer ReentrantLock "": 1 10 10, by a.Request, held by a.Request`, `sleep Thread.sleep "": 1 5 5, by -, held by -`,
		}, []string{"20 ReentrantLock 10: 3/11.1 a.Request, by 2/0.0 a.Request, held by 2/10.1 a.Request", "25 a.Db 6: 2/20.1 a.Request, by -, held by -", "32 Thread.sleep 5: 3/11.1 a.Request, by -, held by -"}},
		strings.Repeat("c", 32): {},
	} {
		for _, singles := range []bool{false, true} {
			id, err := store.ParseTraceID(trace)
			if err != nil {
				t.Fatal(err)
			}
			scan, err := s.TraceScan(id)
			if err != nil {
				t.Fatal(err)
			}
			a, err := AnalyseTrace(s, scan, singles)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(a.NotAvailable[NoSummed], "60 waits, 9.00 ms in all") {
				t.Errorf("short waits: %q", a.NotAvailable[NoSummed])
			}
			same(t, rowsOf(a.Rows(true)), want.rows)
			if singles {
				same(t, linesOf(allSingles(t, a)), want.singles)
			}
		}
	}
}

func allSingles(t *testing.T, a *Analysis) (out []*Single) {
	t.Helper()
	if _, err := a.Singles(0, true, func(s *Single) error {
		c := *s
		out = append(out, &c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

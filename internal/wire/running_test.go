package wire

import (
	"errors"
	"testing"
)

func TestRunningReportLimits(t *testing.T) {
	many := make([]RunningThread, MaxRunningThreads+1)
	for name, r := range map[string]*RunningReport{
		"threads":    {At: 1, Threads: many},
		"executions": {At: 1, Threads: []RunningThread{{Executions: make([]RunningExecution, MaxRunning+1)}}},
	} {
		b := full()
		b.Running = r
		if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
			t.Errorf("encoding too many %s: %v", name, err)
		}
		// A writer without limits: the reader has its own.
		if _, err := Decode(envelope(t, keyRunning, hostileRunning(r)), DefaultLimits()); err == nil {
			t.Errorf("decoding too many %s: no error", name)
		}
	}
}

// hostileRunning is a report as the format has it.
func hostileRunning(x *RunningReport) any {
	threads := []any{}
	for _, t := range x.Threads {
		list := []any{}
		for range t.Executions {
			list = append(list, []any{1, 1, 0})
		}
		threads = append(threads, []any{1, list})
	}
	return []any{1, 0, threads}
}

// An execution cannot have begun after the report, nor before all time.
func TestRunningReportAges(t *testing.T) {
	b, err := Decode(envelope(t, keyRunning, []any{uint64(100), 0, []any{[]any{7, []any{[]any{1, 2, 40}, []any{3, 4, uint64(1 << 63)}}}}}), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	e := b.Running.Threads[0].Executions
	if e[0].Start != 60 || e[1].Start != 0 {
		t.Errorf("begun at %d and %d, want 60 and 0", e[0].Start, e[1].Start)
	}
}

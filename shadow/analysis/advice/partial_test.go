package advice

import (
	"strings"
	"testing"

	"stackagent/granularity"
)

// Of a session of which a part is missing, a sentence says no rate, no share of the time, and not that nothing happened.
func TestPartial(t *testing.T) {
	f := Facts{Duration: 2e9, CPUs: 2, Executions: 1000, Threads: 3, Created: 1000,
		Total: granularity.Metrics{granularity.SelfCPU: {Count: 1000, Sum: 1e9}},
		Rows:  []granularity.Hotspot{{Class: "a.Job", Executions: 1000, Work: 1e9, WorkShare: 1, Metrics: granularity.Metrics{granularity.SelfCPU: {Count: 1000, Sum: 1e9}}}}}
	collected := f
	collected.GC = granularity.PauseStats{Count: 2, Total: 100e6, Max: 60e6}
	for _, c := range []struct {
		facts       Facts
		whole, part []string
	}{
		{f, []string{"1,000 executions of 1,000 created tasks on 3 threads in 2.00 s (500 per second).", "Finished tasks used 0.50 of 2 processors on average", "The tasks took 1.00 s", "No garbage collection stopped the program."},
			[]string{"1,000 executions of 1,000 created tasks on 3 threads in 2.00 s, as far as recorded.", "Finished tasks used at least 0.50 of 2 processors on average", "The tasks that were recorded took 1.00 s", "No garbage collection stopped the program, as far as recorded."}},
		{collected, []string{"Garbage collection stopped the program 2 times, for 100 ms in total (5.0 % of the time). The longest pause took 60.0 ms."},
			[]string{"Garbage collection stopped the program at least 2 times, for at least 100 ms in total. The longest pause that was recorded took 60.0 ms."}},
	} {
		for _, partial := range []bool{false, true} {
			c.facts.Partial = partial
			said, want := "", c.whole
			for _, x := range Find(&c.facts) {
				said += x.Text + "\n"
			}
			if partial {
				want = c.part
			}
			for _, line := range want {
				if !strings.Contains(said, line) {
					t.Errorf("partial %v: %q is not in:\n%s", partial, line, said)
				}
			}
		}
	}
}

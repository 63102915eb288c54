package tool

import "testing"

const timing = `
                                 Method Timing

Timed Method                          Invocations Minimum Time Average Time Maximum Time
------------------------------------- ----------- ------------ ------------ ------------
Tasks$Job.run()                         1,000,000  0.000020 ms  0.000034 ms  1.220000 ms
Tasks$Job.<init>(CountDownLatch, int)   1,000,001  0.000020 ms  0.000033 ms  0.314000 ms
`

func TestParseTiming(t *testing.T) {
	c, err := parseTiming(timing)
	if err != nil || c != (Count{Events: 2_000_001}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "Timed Method Invocations\n", "A.run() many 0 ms\n"} {
		if c, err := parseTiming(bad); err == nil {
			t.Errorf("parseTiming(%q) = %+v, want an error", bad, c)
		}
	}
}

func TestParseSummary(t *testing.T) {
	const text = " Event Type    Count  Size (bytes)\n===\n jdk.MethodTrace     2000000      30002434\n jdk.MethodTiming    0   0\n"
	if n, err := parseSummary(text); err != nil || n != 2_000_000 {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", " jdk.MethodTrace x 1\n", " jdk.MethodTiming 3 4\n"} {
		if n, err := parseSummary(bad); err == nil {
			t.Errorf("parseSummary(%q) = %d, want an error", bad, n)
		}
	}
}

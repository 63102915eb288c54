package tool

import (
	"testing"
	"time"
)

func TestParseThreads(t *testing.T) {
	all, agent, err := parseThreads(`[{"role": "", "cpu_ns": 900}, {"role": "agent", "cpu_ns": 70}, {"role": "agent", "cpu_ns": 30}, {"role": "C2", "cpu_ns": null}]`)
	if err != nil || all != 1000*time.Nanosecond || agent != 100*time.Nanosecond {
		t.Errorf("%v, %v, %v", all, agent, err)
	}
	for _, bad := range []string{"", "[]", `[{"role": "", "cpu_ns": 900}]`} {
		if all, agent, err := parseThreads(bad); err == nil {
			t.Errorf("parseThreads(%q) = %v, %v, want an error", bad, all, agent)
		}
	}
}

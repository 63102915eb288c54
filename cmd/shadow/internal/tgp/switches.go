package tgp

import (
	"fmt"
	"slices"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/session"
)

// switchSample is how often tgp samples context switches.
const switchSample units.Ns = 100_000_000

// maxSwitchSamples bounds the samples of a damaged record: some 115 days.
const maxSwitchSamples = 100_000_000

// samplesOf are the samples of the machine that a session has: those that it was
// imported with, or context switches from its scheduling record.
func samplesOf(s *session.Session) (tgp.Samples, error) {
	samples, err := readSamples(s.Dir)
	if err != nil || len(samples.Switches) > 0 {
		return samples, err
	}
	samples.Switches, err = switchesOf(s)
	return samples, err
}

// switchesOf counts how often a thread of the JVM left a processor, per 100 ms.
func switchesOf(s *session.Session) ([]tgp.Switches, error) {
	r, err := s.Scheduling()
	if r == nil || err != nil {
		return nil, err
	}
	record := r.Record()
	n := int((units.Ns(record.To-record.From) + switchSample - 1) / switchSample)
	if n <= 0 || n > maxSwitchSamples {
		return nil, nil
	}
	counts := make([]float64, n)
	err = r.All(func(run []sched.Slice) error {
		for _, x := range run {
			i := int(units.Ns(x.To-record.From-1) / switchSample)
			if x.State == sched.Running && x.To < record.To && i >= 0 && i < n {
				counts[i]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the scheduling record of %s: %w", s.Dir, err)
	}
	out := make([]tgp.Switches, n)
	for i, c := range counts {
		out[i] = tgp.Switches{At: int64(record.From) + int64(i+1)*int64(switchSample), Count: c}
	}
	return slices.Clip(out), nil
}

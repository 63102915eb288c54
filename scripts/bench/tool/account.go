package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stackagent/hpc/sched"
	"stackagent/scripts/bench/measure"
	"stackagent/shadow/store"
)

// longWait is the least duration of a wait that has a stack.
const longWait = time.Millisecond

// Account is what a session knows of the cost of its recording.
type Account struct {
	JVM, Agent time.Duration // CPU time of all threads of the JVM, and of the agent's own
	Events     map[string]uint64
	Tracing    sched.Cost // of the scheduling record
}

// Kinds of events, each with its own cost: recorded one by one, and summarised.
const (
	Executions            = "executions"
	SummarisedExecutions  = "executions, summarised"
	Creations             = "creations"
	SummarisedCreations   = "creations, summarised"
	Submissions           = "submissions"
	SummarisedSubmissions = "submissions, summarised"
	Waits                 = "waits"
	LongWaits             = "waits of more than 1 ms"
)

// ReadAccount reads it from the session in dir.
func ReadAccount(ctx context.Context, shadow, dir string) (Account, error) {
	a := Account{}
	r, err := measure.Run(ctx, measure.Command{Args: []string{shadow, "threads", dir, "--format", "json"}})
	if err != nil {
		return a, err
	}
	if a.JVM, a.Agent, err = parseThreads(r.Stdout); err != nil {
		return a, fmt.Errorf("the threads of %s: %w", dir, err)
	}
	folder, m, err := store.OpenSession(dir, false)
	if err != nil {
		return a, err
	}
	defer folder.Close()
	a.Events = map[string]uint64{
		Executions: m.Stored.Executions - m.Summarised.Executions, SummarisedExecutions: m.Summarised.Executions,
		Creations: m.Stored.Creations - m.Summarised.Creations, SummarisedCreations: m.Summarised.Creations,
	}
	if m.Submissions != nil {
		a.Events[Submissions], a.Events[SummarisedSubmissions] = m.Submissions.Stored, m.Submissions.Summarised
	}
	if err := readWaits(folder, a.Events); err != nil {
		return a, err
	}
	record, err := sched.Open(dir)
	switch {
	case err != nil:
		return a, err
	case record == nil || record.Record().Cost == nil:
		a.Tracing.KernelUnknown = "there is no scheduling record"
	default:
		a.Tracing = *record.Record().Cost
	}
	return a, nil
}

func readWaits(f *store.Folder, events map[string]uint64) error {
	_, first := f.ReadWaits(func(w *store.Wait) {
		if w.EndNs-w.StartNs >= longWait.Nanoseconds() {
			events[LongWaits]++
		} else {
			events[Waits]++
		}
	})
	_, second := f.ReadWaitSums(func(s *store.WaitSum) { events[Waits] += s.Waits })
	return errors.Join(first, second)
}

// parseThreads adds up the CPU time in the output of `shadow threads --format json`.
func parseThreads(text string) (all, agent time.Duration, err error) {
	var rows []struct {
		Role string `json:"role"`
		CPU  *int64 `json:"cpu_ns"`
	}
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return 0, 0, err
	}
	for _, r := range rows {
		if r.CPU == nil {
			continue
		}
		all += time.Duration(*r.CPU)
		if r.Role == "agent" {
			agent += time.Duration(*r.CPU)
		}
	}
	if all == 0 || agent == 0 {
		return 0, 0, fmt.Errorf("%v of CPU time, %v in the agent's threads: the kernel's record of the threads is missing", all, agent)
	}
	return all, agent, nil
}

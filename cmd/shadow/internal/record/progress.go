package record

import (
	"sync"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// ShowProgress prints a line each second until the function it returns is called.
func ShowProgress(env console.Env, in *ingest.Ingest) (stop func()) {
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				env.Note("%s", progressLine(in.Sessions()))
			}
		}
	})
	return func() { close(done); group.Wait() }
}

func progressLine(sessions []ingest.Progress) string {
	var executions, lost uint64
	open := 0
	for _, p := range sessions {
		executions += p.Received.Executions
		lost += p.Lost.Events
		if p.Ended == store.EndedRunning {
			open++
		}
	}
	return units.FormatExact(int64(open)) + " JVMs, " + units.FormatExact(int64(executions)) + " executions, " +
		units.FormatExact(int64(lost)) + " events lost"
}

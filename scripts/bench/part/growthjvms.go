package part

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"stackagent/scripts/bench/replay"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

const (
	// eventsPerSecond of a simulated JVM: executions and creations.
	eventsPerSecond = 2000
	settleSeconds   = 5
	measureSeconds  = 15
)

// growthOfJVMs measures `shadow serve` under simulated JVMs that send as fast as real ones would.
func growthOfJVMs(ctx context.Context, c Config, _ string) (string, error) {
	sizes := pick(c, []int{1, 3, 10, 30, 100}, []int{1, 3})
	curves := []result.Curve{{Name: "% of a core"}, {Name: "CPU ns per event"}, {Name: "MiB of memory"}}
	for _, n := range sizes {
		figures := make([][]float64, len(curves))
		for round := range c.rounds(3) {
			v, err := c.served(ctx, n)
			if err != nil {
				return "", err
			}
			c.say("%4d JVMs round %d: %.2f %% of a core, %.0f ns an event, %.0f MiB", n, round+1, v[0], v[1], v[2])
			for i := range curves {
				figures[i] = append(figures[i], v[i])
			}
		}
		for i := range curves {
			curves[i].X, curves[i].Y = append(curves[i].X, float64(n)), append(curves[i].Y, result.OfMedian(figures[i]))
		}
	}
	return c.growthText("jvms", fmt.Sprintf("`shadow serve` with so many simulated JVMs, each with %s events per second in a batch per second, for %d s after %d s.",
		result.Grouped(eventsPerSecond), measureSeconds, settleSeconds), result.Figure{Title: "JVMs on one shadow", X: "JVMs", Y: "% of a core, ns, MiB", Curves: curves})
}

// served is the share of a core, the CPU time of an event in ns, and the peak of memory in MiB of a shadow that serves n JVMs.
func (c Config) served(ctx context.Context, n int) (v [3]float64, err error) {
	settle, seconds := pick(c, settleSeconds, 1), pick(c, measureSeconds, 3)
	err = c.inScratch(func(dir string) error {
		server, err := c.serve(ctx, dir)
		if err != nil {
			return err
		}
		type result struct {
			replay.Sent
			err error
		}
		ended := make(chan result, 1)
		go func() {
			sent, err := replay.Send(ctx, replay.JVMs{URL: "nats://" + server.address, TokenFile: server.token(), N: n, Events: eventsPerSecond,
				For: time.Duration(settle+seconds+2) * time.Second})
			ended <- result{sent, err}
		}()
		time.Sleep(time.Duration(settle) * time.Second)
		before, err1 := server.CPU()
		start := time.Now()
		time.Sleep(time.Duration(seconds) * time.Second)
		after, err2 := server.CPU()
		took := time.Since(start).Seconds()
		sent := <-ended
		used, stopped := server.Stop()
		if err := errors.Join(err1, err2, sent.err, stopped); err != nil {
			return err
		}
		cpu := (after - before).Seconds() / took
		v = [3]float64{100 * cpu, cpu / float64(n*eventsPerSecond) * 1e9, float64(used.PeakBytes) / (1 << 20)}
		s, err := tool.ReadStats(ctx, c.Bin.Shadow, filepath.Join(server.store, replay.Session(n-1)))
		if err == nil && 2*s.Tasks.Executions*uint64(n) != sent.Events {
			err = fmt.Errorf("a session has %d executions; %d JVMs sent %d events", s.Tasks.Executions, n, sent.Events)
		}
		return err
	})
	return v, err
}

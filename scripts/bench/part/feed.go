package part

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stackagent/hpc/sched"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/replay"
	"stackagent/scripts/bench/result"
	"stackagent/shadow/store"
)

// feeds are numbers of JVMs and of events a second of each.
var feeds = []struct{ jvms, events int }{{1, 10_000}, {1, 100_000}, {1, 400_000}, {100, 2_000}}

const (
	feedFor     = 8 * time.Second
	feedSettle  = time.Second      // what the shadow does when it starts is over
	quietSettle = 12 * time.Second // the shadow looks seldom when nothing has changed for 10 s
	quietWindow = 10 * time.Second
)

// fed is what a run of a feed took.
type fed struct {
	perEvent, core float64 // CPU ns; share of a core
	peak           int64
	lost           uint64
}

// Feed measures what the shadow takes of a CPU at given rates of events, and beside a JVM that does nothing.
func Feed(ctx context.Context, c Config) (string, error) {
	rounds := c.rounds(3)
	text, err := "", error(nil)
	if c.wants("rates") {
		text, err = c.rates(ctx, rounds)
	}
	if err == nil && c.wants("quiet") {
		var quiet string
		quiet, err = c.quiet(ctx, rounds)
		text += quiet
	}
	return text, err
}

// rates measures the feeds.
func (c Config) rates(ctx context.Context, rounds int) (string, error) {
	runs := make([][]fed, len(feeds))
	err := alternate(rounds, len(feeds), func(round, i int) error {
		return c.inScratch(func(dir string) error {
			f, err := c.feed(ctx, dir, feeds[i].jvms, feeds[i].events)
			if err != nil {
				return err
			}
			c.say("%d JVMs, %d events/s each, round %d: %.0f CPU ns an event, %.1f %% of a core, %d lost", feeds[i].jvms, feeds[i].events, round+1, f.perEvent, 100*f.core, f.lost)
			runs[i] = append(runs[i], f)
			return nil
		})
	})
	if err != nil {
		return "", err
	}
	return feedText(runs, rounds), nil
}

func feedText(runs [][]fed, rounds int) string {
	t := result.Table{Head: []string{"JVMs", "events per second of each", "CPU ns per event", "% of a core", "peak of memory", "lost"}}
	for i, x := range feeds {
		of := func(f func(fed) float64) (v []float64) {
			for _, r := range runs[i] {
				v = append(v, f(r))
			}
			return v
		}
		lost, peak := uint64(0), int64(0)
		for _, r := range runs[i] {
			lost, peak = lost+r.lost, max(peak, r.peak)
		}
		t.Add(fmt.Sprint(x.jvms), result.Grouped(int64(x.events)), result.Interval(result.OfMedian(of(func(f fed) float64 { return f.perEvent }))),
			result.Interval(result.OfMedian(of(func(f fed) float64 { return 100 * f.core }))), result.Bytes(float64(peak)), result.Grouped(int64(lost)))
	}
	return fmt.Sprintf("Medians of %d runs; the feeds alternate. Simulated JVMs send batches over the bus for %v to `shadow serve`. An event is an execution or a creation; each "+
		"task has one of both, and a submission. CPU time of the shadow, server included, from the first batch until all is stored, parts are merged and the shadow has ended.\n\n%s",
		rounds, feedFor, t.String())
}

// served is a running `shadow serve`.
type served struct {
	*measure.Background
	address, page, store string // the bus, the address of the page, the folder
}

func (s served) token() string { return filepath.Join(s.store, "token") }

// feed sends events to a shadow of its own.
func (c Config) feed(ctx context.Context, dir string, jvms, events int) (f fed, err error) {
	s, err := c.serve(ctx, dir)
	if err != nil {
		return f, err
	}
	time.Sleep(feedSettle)
	before, err := s.CPU()
	if err != nil {
		_, stopped := s.Stop()
		return f, errors.Join(err, stopped)
	}
	length := pick(c, feedFor, feedFor/8)
	sent, err := replay.Send(ctx, replay.JVMs{URL: "nats://" + s.address, TokenFile: s.token(), N: jvms, Events: events, For: length})
	stored := uint64(0)
	for i := range jvms {
		if err == nil {
			var m *store.Manifest
			if m, err = ended(ctx, filepath.Join(s.store, replay.Session(i))); err == nil {
				stored, f.lost = stored+m.Stored.Sum(), f.lost+m.Lost.Events
			}
		}
	}
	u, stopped := s.Stop()
	if err = errors.Join(err, stopped); err != nil {
		return f, err
	}
	if f.lost += sent.Events - stored - f.lost; stored > sent.Events {
		return f, fmt.Errorf("%d events are stored of %d", stored, sent.Events)
	}
	cpu := float64((u.CPU - before).Nanoseconds())
	f.perEvent, f.core, f.peak = cpu/float64(sent.Events), cpu/float64(length.Nanoseconds()), u.PeakBytes
	return f, nil
}

// ended waits until a session's account is drawn up.
func ended(ctx context.Context, dir string) (*store.Manifest, error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if m, err := store.ReadManifest(dir); err == nil && m.Balance != nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("the session %s has not ended: %w", filepath.Base(dir), errors.Join(context.DeadlineExceeded, ctx.Err()))
}

// quiet measures a shadow without JVMs, then with one that sleeps.
func (c Config) quiet(ctx context.Context, rounds int) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	var alone, beside, record []float64
	why := ""
	for round := range rounds {
		if err := c.inScratch(func(dir string) error {
			shares, unknown, err := c.quietOnce(ctx, dir, classes)
			if err != nil {
				return err
			}
			c.say("quiet, round %d: %.2f %% of a core without a JVM, %.2f %% with one, of that the scheduling record %.2f %%", round+1, shares[0], shares[1], shares[2])
			alone, beside, record, why = append(alone, shares[0]), append(beside, shares[1]), append(record, shares[2]), unknown
			return nil
		}); err != nil {
			return "", err
		}
	}
	t := result.Table{Head: []string{"`shadow serve`", "% of a core"}}
	t.Add("no JVM", result.Interval(result.OfMedian(alone)))
	t.Add("one JVM that sleeps", result.Interval(result.OfMedian(beside)))
	t.Add("of that in looks at the scheduling record", result.Interval(result.OfMedian(record)))
	text := fmt.Sprintf("\nMedians of %d runs, JDK %s: %v after %v without events. What is read of the scheduling record is charged over the whole session.\n\n%s",
		rounds, c.newest().Full, quietWindow, quietSettle, t.String())
	if why != "" {
		text += "\nThe kernel's part of the scheduling record is not available: " + why + ".\n"
	}
	return text, nil
}

func (c Config) quietOnce(ctx context.Context, dir, classes string) (shares [3]float64, kernelUnknown string, err error) {
	s, err := c.serve(ctx, dir)
	if err != nil {
		return shares, "", err
	}
	settle, window := pick(c, quietSettle, time.Second), pick(c, quietWindow, time.Second)
	time.Sleep(settle / 4)
	shares[0], err = s.share(window / 2)
	if err == nil {
		java := make(chan error, 1)
		go func() {
			_, err := measure.Run(ctx, measure.Command{Args: []string{c.newest().Tool("java"), "-agentpath:" + c.Bin.Agent + "=bus=nats://" + s.address +
				",session=quiet,tokenfile=" + s.token(), "-cp", classes, "Quiet", fmt.Sprint(int((settle + window).Seconds()) + 1)}})
			java <- err
		}()
		time.Sleep(settle)
		shares[1], err = s.share(window)
		err = errors.Join(err, <-java)
	}
	session := filepath.Join(s.store, "quiet")
	if err == nil {
		_, err = ended(ctx, session)
	}
	_, stopped := s.Stop()
	if err = errors.Join(err, stopped); err != nil {
		return shares, "", err
	}
	shares[2], kernelUnknown, err = recordShare(session)
	return shares, kernelUnknown, err
}

// share is the share of a core that the shadow uses in a while, in percent.
func (s served) share(window time.Duration) (float64, error) {
	before, err := s.CPU()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	time.Sleep(window)
	after, err := s.CPU()
	return 100 * float64(after-before) / float64(time.Since(begin)), err
}

// recordShare is the share of a core that reading the scheduling record of a session took, in percent.
func recordShare(session string) (percent float64, kernelUnknown string, err error) {
	r, err := sched.Open(session)
	if err != nil || r == nil {
		return 0, "", errors.Join(err, fmt.Errorf("%s has no scheduling record", session))
	}
	rec := r.Record()
	if rec.Cost == nil {
		return 0, "", fmt.Errorf("the scheduling record says no cost: %s", rec.NotAvailable[sched.NoRecord])
	}
	unknown, _, _ := strings.Cut(rec.Cost.KernelUnknown, " (")
	return 100 * float64(rec.Cost.Reading) / float64(rec.To-rec.From), unknown, nil
}

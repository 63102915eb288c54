package part

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stackagent/internal/testbrowser"
	"stackagent/scripts/bench/replay"
	"stackagent/scripts/bench/result"
)

// A fleet that is watched: simulated JVMs, tasks a second of each, and browsers.
const (
	watchedJVMs  = 20
	watchedTasks = 5000
	watchers     = 10
)

// watched is what a watched shadow took.
type watched struct {
	core  float64   // CPU of the shadow, share of a core
	bytes float64   // a second to each stream
	lags  []float64 // ms
}

// livePage measures what browsers cost the shadow, and how late the page is.
func livePage(ctx context.Context, c Config) (string, error) {
	rounds := c.rounds(3)
	runs := make([][]watched, 2)
	browsers := []int{0, watchers}
	err := alternate(rounds, len(runs), func(round, i int) error {
		return c.inScratch(func(dir string) error {
			w, err := c.watch(ctx, dir, browsers[i])
			if err != nil {
				return err
			}
			c.say("live page, round %d: %d browsers, %.1f %% of a core", round+1, browsers[i], 100*w.core)
			runs[i] = append(runs[i], w)
			return nil
		})
	})
	if err != nil {
		return "", err
	}
	return watchText(runs, browsers, rounds), nil
}

func watchText(runs [][]watched, browsers []int, rounds int) string {
	t := result.Table{Head: []string{"browsers", "shadow, % of a core", "KiB per second to each", "lag, median ms", "95 %", "longest"}}
	for i, of := range runs {
		var cores, rates, lags []float64
		for _, w := range of {
			cores, rates, lags = append(cores, 100*w.core), append(rates, w.bytes/(1<<10)), append(lags, w.lags...)
		}
		row := []string{fmt.Sprint(browsers[i]), result.Interval(result.OfMedian(cores)), "", "", "", ""}
		if slices.Sort(lags); len(lags) > 0 {
			row = []string{row[0], row[1], result.Number(result.Median(rates)), result.Number(result.Median(lags)), result.Number(lags[len(lags)*95/100]), result.Number(slices.Max(lags))}
		}
		t.Add(row...)
	}
	return fmt.Sprintf("`shadow serve` with %d simulated JVMs of %s tasks a second each (created, submitted, executed), a batch a second from each, stored as usual; %d runs of each, in turns. "+
		"One of the browsers is Chromium, which shows a JVM; the others take the event stream of the fleet or of a JVM. *Lag*: from the newest event of a batch to the frame of Chromium "+
		"that shows it. An event waits for its batch in the JVM before that, a second at most.\n\n%s", watchedJVMs, result.Grouped(watchedTasks), rounds, t.String())
}

// watch measures a shadow with so many browsers.
func (c Config) watch(ctx context.Context, dir string, browsers int) (w watched, err error) {
	settle, length := pick(c, 10*time.Second, 4*time.Second), pick(c, 30*time.Second, 5*time.Second)
	s, err := c.serve(ctx, dir)
	if err != nil {
		return w, err
	}
	sending, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		// It ends with the measurement: what it returns then is that it was told to.
		_, _ = replay.Send(sending, replay.JVMs{URL: "nats://" + s.address, TokenFile: s.token(), N: watchedJVMs, Events: 2 * watchedTasks, For: time.Hour})
	})
	var streams int64
	var got atomic.Int64
	for i := range max(0, browsers-1) {
		streams++
		group.Go(func() { _ = follow(sending, s.page+stream(i), &got) })
	}
	err = c.watchFor(ctx, s, browsers > 0, settle, length, &w, &got)
	stop()
	group.Wait()
	w.bytes = float64(got.Load()) / length.Seconds() / float64(max(1, streams))
	_, stopped := s.Stop()
	return w, errors.Join(err, stopped)
}

// stream is the address of the i-th browser's events.
func stream(i int) string {
	if i%3 == 0 {
		return "/events?fleet"
	}
	return "/events?jvm=" + replay.Session(i)
}

// follow takes events until ctx ends, and counts their bytes. A JVM that the shadow has not heard of is asked for again.
func follow(ctx context.Context, address string, got *atomic.Int64) error {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		if answer.StatusCode == http.StatusOK {
			_, err = io.Copy(counter{got}, answer.Body)
		}
		answer.Body.Close()
		if err != nil {
			return err
		}
		pause(ctx, 200*time.Millisecond)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// watchLags notes for each snapshot that shows something new how old its newest event is when the frame with it is drawn.
const watchLags = `window.lags = [];
window.EventSource = class extends EventSource {
	#last = 0;
	constructor(...args) {
		super(...args);
		this.addEventListener("message", e => {
			const jvm = JSON.parse(e.data), happened = jvm.row.started_ms + jvm.now_ns / 1e6;
			if (happened === this.#last) return;
			this.#last = happened;
			requestAnimationFrame(() => setTimeout(() => lags.push(Date.now() - happened)));
		});
	}
};`

// watchFor measures for a time, with a browser or without.
func (c Config) watchFor(ctx context.Context, s served, browser bool, settle, length time.Duration, w *watched, got *atomic.Int64) error {
	meanwhile := func(begin func() error) error {
		pause(ctx, settle)
		if err := begin(); err != nil {
			return err
		}
		got.Store(0)
		before, err1 := s.CPU()
		start := time.Now()
		pause(ctx, length)
		after, err2 := s.CPU()
		w.core = (after - before).Seconds() / time.Since(start).Seconds()
		return errors.Join(err1, err2, ctx.Err())
	}
	if !browser {
		return meanwhile(func() error { return nil })
	}
	return inTab(ctx, func(tab *testbrowser.Tab) error {
		if err := tab.Before(watchLags); err != nil {
			return err
		}
		if err := meanwhile(func() error {
			if err := tab.Go(s.page + "/jvm/" + replay.Session(0)); err != nil {
				return err
			}
			return tab.Until("lags.length")
		}); err != nil {
			return err
		}
		lags, err := testbrowser.Eval[[]float64](tab, "lags")
		if w.lags = lags; err == nil && len(lags) < 2 {
			err = errors.New("no figures arrived in the browser")
		}
		return err
	})
}

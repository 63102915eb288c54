package part

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stackagent/internal/testbrowser"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
)

// The window in which pages are measured.
const pageWidth, pageHeight = 1440, 900

// Page measures the page in a real browser: reports of sessions of several sizes, brushing, and the live page.
func Page(ctx context.Context, c Config) (string, error) {
	text := ""
	for _, p := range []struct {
		name string
		run  func(context.Context, Config) (string, error)
	}{{"reports", reports}, {"brush", brush}, {"live", livePage}} {
		if !c.wants(p.name) {
			continue
		}
		t, err := p.run(ctx, c)
		if err != nil {
			return "", err
		}
		text += t + "\n"
	}
	return text, nil
}

// written is a report of a generated session.
type written struct {
	measure.Usage
	address string
	bytes   int64
}

// report generates a session of n executions in dir and writes its report.
func (c Config) report(ctx context.Context, dir string, n int) (w written, err error) {
	c.say("making a session of %s executions", result.Grouped(int64(n)))
	gen := measure.Command{Args: []string{"go", "run", "./scripts/gensession", "-n", strconv.Itoa(n), dir, "session"}, Dir: c.Root}
	if _, err := measure.Run(ctx, gen); err != nil {
		return w, err
	}
	file := filepath.Join(dir, "report.html")
	r, err := measure.Run(ctx, measure.Command{Args: []string{c.Bin.Shadow, "report", filepath.Join(dir, "session"), "-o", file}})
	if err != nil {
		return w, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return w, fmt.Errorf("the report: %w", err)
	}
	w.Usage, w.bytes = r.Usage, info.Size()
	w.address, err = testbrowser.File(file)
	return w, err
}

// inTab calls f with a tab of a browser that has no other.
func inTab(ctx context.Context, f func(*testbrowser.Tab) error) error {
	b, err := testbrowser.Start(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := b.Tab(pageWidth, pageHeight)
	if err != nil {
		return err
	}
	defer t.Close()
	return f(t)
}

// reports measures how reports open.
func reports(ctx context.Context, c Config) (string, error) {
	rounds := c.rounds(7)
	var empty []float64
	t := result.Table{Head: []string{"executions", "`shadow report`, s", "its peak of memory", "file", "first paint, ms", "shows its data, ms", "takes a click, ms", "JavaScript's memory", "memory of the tab's process"}}
	for _, n := range pick(c, []int{1000, 1_000_000, 100_000_000}, []int{1000, 100_000}) {
		if err := c.inScratch(func(dir string) error {
			w, err := c.report(ctx, dir, n)
			if err != nil {
				return err
			}
			var paint, ready, free, heap, process []float64
			for range rounds {
				if err := inTab(ctx, func(tab *testbrowser.Tab) error {
					none, err := tab.Memory()
					if err != nil {
						return err
					}
					l, err := tab.Load(w.address)
					if err != nil {
						return err
					}
					m, err := tab.Memory()
					empty = append(empty, float64(none.Process))
					paint, ready, free = append(paint, l.Paint), append(ready, l.Ready), append(free, l.Free)
					heap, process = append(heap, float64(m.Heap)), append(process, float64(m.Process))
					return err
				}); err != nil {
					return err
				}
			}
			c.say("%s executions: %s, ready in %.0f ms", result.Grouped(int64(n)), result.Bytes(float64(w.bytes)), result.Median(ready))
			t.Add(result.Grouped(int64(n)), result.Number(w.Wall.Seconds()), result.Bytes(float64(w.PeakBytes)), result.Bytes(float64(w.bytes)),
				result.Interval(result.OfMedian(paint)), result.Interval(result.OfMedian(ready)), result.Interval(result.OfMedian(free)),
				result.Bytes(result.Median(heap)), result.Bytes(result.Median(process)))
			return nil
		}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Reports of sessions made by `scripts/gensession`, opened as files by Chromium without a window or a GPU, %d by %d pixels. Medians of %d loads, each in "+
		"a new browser; times are from the start of loading. Memory is after a garbage collection; the process of an empty tab has %s.\n\n%s",
		pageWidth, pageHeight, rounds, result.Bytes(result.Median(empty)), t.String()), nil
}

// brushedSlices are in sight while a range is brushed.
const brushedSlices = 100_000

// brushViews are what is shown meanwhile.
var brushViews = []string{"overview", "lanes"}

// brush measures the frames while a mouse drags a range.
func brush(ctx context.Context, c Config) (string, error) {
	length, n := pick(c, 10*time.Second, time.Second), pick(c, brushedSlices, brushedSlices/10)
	t := result.Table{Head: []string{"view", "frames per second", "median frame, ms", "99 % of frames within, ms", "longest, ms"}}
	err := c.inScratch(func(dir string) error {
		w, err := c.report(ctx, dir, n)
		if err != nil {
			return err
		}
		for _, view := range brushViews {
			var rates, medians, nearly, longest []float64
			for range c.rounds(3) {
				if err := inTab(ctx, func(tab *testbrowser.Tab) error {
					if _, err := tab.Load(w.address + "#view=" + view); err != nil {
						return err
					}
					frames, err := tab.Brush("#brush", length)
					if err != nil {
						return err
					}
					if len(frames) == 0 {
						return fmt.Errorf("no frame was drawn within %v", length)
					}
					slices.Sort(frames)
					sum := 0.0
					for _, f := range frames {
						sum += f
					}
					rates = append(rates, 1000*float64(len(frames))/sum)
					medians = append(medians, frames[len(frames)/2])
					nearly = append(nearly, frames[(len(frames)*99)/100])
					longest = append(longest, frames[len(frames)-1])
					return nil
				}); err != nil {
					return err
				}
			}
			c.say("brushing, %s: %.1f frames a second", view, result.Median(rates))
			t.Add(view, result.Number(result.Median(rates)), result.Number(result.Median(medians)), result.Number(result.Median(nearly)), result.Number(slices.Max(longest)))
		}
		return nil
	})
	return fmt.Sprintf("A mouse drags the end of a range to and fro over the time axis of a report of %s executions, each of them a slice on a lane, for %v, 125 moves a second. Chromium without a GPU draws on this "+
		"machine's processors, 60 frames a second at most.\n\n%s", result.Grouped(int64(n)), length, t.String()), err
}

package testbrowser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// Loading are milliseconds from the start of loading a page.
type Loading struct {
	Paint float64 `json:"paint"` // first text or picture
	Ready float64 `json:"ready"` // the page says that it shows its data
	Free  float64 `json:"free"`  // after that, a frame is drawn and the page can take a click
}

// watchLoading notes in the page when it says that it is ready, and when its thread is free then.
const watchLoading = `new MutationObserver((_, observer) => {
	if (document.documentElement?.dataset.state !== "ready") return;
	observer.disconnect();
	window.loadingReady = performance.now();
	requestAnimationFrame(() => setTimeout(() => window.loadingFree = performance.now()));
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"]})`

// Before runs a script before those of the pages that are loaded from now on.
func (t *Tab) Before(script string) error {
	return call(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Load loads an address and measures that. It can be called once for a tab.
func (t *Tab) Load(address string) (Loading, error) {
	if err := t.Before(watchLoading); err != nil {
		return Loading{}, err
	}
	if err := t.Go(address); err != nil {
		return Loading{}, err
	}
	if err := t.Until(`window.loadingFree && performance.getEntriesByName("first-contentful-paint").length`); err != nil {
		return Loading{}, err
	}
	return Eval[Loading](t, `({paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, ready: loadingReady, free: loadingFree})`)
}

// Memory is what a page holds, in bytes.
type Memory struct {
	Heap    int64 // of JavaScript, array buffers included
	Process int64 // of the largest process that renders: the proportional share of its pages
}

// Memory collects garbage and measures what is left. The browser must have no other large page.
func (t *Tab) Memory() (m Memory, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := call(t, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
		return m, err
	}
	heap, err := chromedp.Call(ctx, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		return m, err
	}
	m.Heap = int64(heap.UsedSize + heap.BackingStorageSize)
	all, err := chromedp.CallBrowser(ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return m, err
	}
	for _, p := range all.ProcessInfo {
		if p.Type != "renderer" {
			continue
		}
		if pss, err := pss(p.ID); err == nil { // one that has just ended is not the page's
			m.Process = max(m.Process, pss)
		}
	}
	if m.Process == 0 {
		return m, errors.New("no process of the browser renders")
	}
	return m, nil
}

// pss is the memory of a process, shared pages divided by the number of those who share them.
func pss(pid int64) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no Pss of process %d", pid)
}

// frames are the intervals between frames that the page drew, in milliseconds.
func (t *Tab) frames(during func() error) ([]float64, error) {
	err := t.Script(`window.frameTimes = []; window.framesOn = true;
		requestAnimationFrame(function note(at) { frameTimes.push(at); if (framesOn) requestAnimationFrame(note) })`)
	if err == nil {
		err = during()
	}
	if err != nil {
		return nil, err
	}
	return Eval[[]float64](t, `(framesOn = false, frameTimes.slice(1).map((at, i) => at - frameTimes[i]))`)
}

// Brush drags the mouse to and fro over an element for a time, at the rate of a real mouse, and returns the intervals
// between the frames meanwhile in milliseconds.
func (t *Tab) Brush(selector string, length time.Duration) ([]float64, error) {
	b, err := t.Box(selector)
	if err != nil {
		return nil, err
	}
	const hz = 125
	y := b.Y + b.Height/2
	from := b.X + 0.2*b.Width
	move := func(x float64) error {
		return t.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, chromedp.ButtonLeft))
	}
	if err := t.do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from, y, chromedp.ButtonNone),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	); err != nil {
		return nil, err
	}
	frames, err := t.frames(func() error {
		ticker := time.NewTicker(time.Second / hz)
		defer ticker.Stop()
		for start := time.Now(); time.Since(start) < length; <-ticker.C {
			// Over most of the width and back, twice a second each.
			phase := time.Since(start).Seconds() * 2
			share := phase - float64(int(phase))
			if int(phase)%2 == 1 {
				share = 1 - share
			}
			if err := move(from + share*0.7*b.Width); err != nil {
				return err
			}
		}
		return nil
	})
	return frames, errors.Join(err, t.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, from+0.5*b.Width, y, chromedp.ButtonLeft, chromedp.ClickCount(1))))
}

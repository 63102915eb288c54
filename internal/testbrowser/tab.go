package testbrowser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Tab is a page with cookies and storage of its own.
type Tab struct {
	ctx    context.Context
	cancel context.CancelFunc
	heard  heard
}

// Tab opens an empty one of this size.
func (b *Browser) Tab(width, height int) (*Tab, error) {
	t := &Tab{}
	t.ctx, t.cancel = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	err := errors.Join(
		chromedp.Listen(t.ctx, t.heard.hear),
		call(t, audits.Enable, cdp.Empty{}),
		call(t, network.Enable, network.EnableParams{}),
		call(t, page.Enable, page.EnableParams{}),
		t.Resize(width, height),
	)
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("opening a tab: %w", err)
	}
	return t, nil
}

// call runs a command of the protocol of which the answer does not matter.
func call[P, R any](t *Tab, command cdp.Command[P, R], params P) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	return err
}

// do runs actions.
func (t *Tab) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// Close closes the tab.
func (t *Tab) Close() { t.cancel() }

// Resize sets the size of the visible part of the page.
func (t *Tab) Resize(width, height int) error {
	return t.do(chromedp.EmulateViewport(int64(width), int64(height)))
}

// Media sets the medium ("print", "" for the screen) and features, as in prefers-color-scheme=dark.
func (t *Tab) Media(medium string, features ...string) error {
	p := emulation.SetEmulatedMediaParams{Media: medium}
	for _, f := range features {
		name, value, _ := strings.Cut(f, "=")
		p.Features = append(p.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	return call(t, emulation.SetEmulatedMedia, p)
}

// Go loads an address.
func (t *Tab) Go(address string) error {
	if err := t.do(chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("loading %s: %w", address, err)
	}
	return nil
}

// Back is the browser's button.
func (t *Tab) Back() error { return t.do(chromedp.NavigateBack()) }

// Screenshot is a picture of what is visible, as PNG.
func (t *Tab) Screenshot() ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// PDF prints the page.
func (t *Tab) PDF() ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.PrintToPDF())
}

// Eval evaluates an expression in the page; a promise is awaited.
func Eval[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return v, fmt.Errorf("evaluating %.200s: %w", expression, err)
	}
	return v, nil
}

// Script runs statements in the page.
func (t *Tab) Script(script string) error {
	return t.do(chromedp.Evaluate[chromedp.Void](script+"\n;undefined", chromedp.EvalAwaitPromise))
}

// Until waits until a condition holds in the page.
func (t *Tab) Until(condition string) error {
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end) && t.ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		// While a page is being replaced there is nothing to evaluate in.
		ok, err := Eval[bool](t, "!!("+condition+")")
		if last = err; ok {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("not within %v: %s", patience, condition), last, t.ctx.Err())
}

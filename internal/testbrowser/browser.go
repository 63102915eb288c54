// Package testbrowser drives a real Chromium for tests and measurements: it moves the mouse and types as a person does,
// and reports what the page complained about.
package testbrowser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"

	"stackagent/internal/testjvm"
)

// patience is how long a page may take for what it must do at last. It bounds no figure: on a busy machine everything
// is late.
const patience = 90 * time.Second

// Browser is a running Chromium without a window.
type Browser struct {
	ctx    context.Context
	cancel context.CancelFunc
	stop   context.CancelFunc
}

// Start starts one that ends with ctx or by Close. Its profile is temporary.
func Start(ctx context.Context) (*Browser, error) {
	testjvm.Counted("browser")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", false), // whether one appears is part of what is tested
		// Neither a page's own clock nor its size in memory is blurred.
		chromedp.Flag("enable-precise-memory-info", true),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root
	}
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	inside, cancel := chromedp.NewContext(allocated)
	if err := chromedp.Do(inside); err != nil {
		cancel()
		stop()
		return nil, fmt.Errorf("starting Chromium (scripts/install-deps.sh test installs it): %w", err)
	}
	return &Browser{inside, cancel, stop}, nil
}

// Close ends the browser and waits for it.
func (b *Browser) Close() {
	_ = chromedp.Cancel(b.ctx) // it is killed if it does not end by itself
	b.cancel()
	b.stop()
}

// File is the address of a file.
func File(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return "file://" + abs, nil
}

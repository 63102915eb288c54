package testbrowser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// heard is what a browser said about a page.
type heard struct {
	mu         sync.Mutex
	complaints []string
	requests   []string
}

func (h *heard) hear(event any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	complain := func(format string, args ...any) { h.complaints = append(h.complaints, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			complain("console %s: %s", e.Type, asJSON(e.Args))
		}
	case *runtime.EventExceptionThrown:
		complain("exception: %s", asJSON(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			complain("log, %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		complain("issue %s: %s", e.Issue.Code, asJSON(e.Issue.Details))
	case *page.EventJavascriptDialogOpening:
		complain("dialog %s: %s", e.Type, e.Message)
	case *network.EventRequestWillBeSent:
		h.requests = append(h.requests, e.Request.URL)
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Complaints are errors and warnings of the console, exceptions, violations of the page's policy and dialogs, as they
// came.
func (t *Tab) Complaints() []string {
	t.heard.mu.Lock()
	defer t.heard.mu.Unlock()
	return slices.Clone(t.heard.complaints)
}

// Forgive forgets the complaints so far.
func (t *Tab) Forgive() {
	t.heard.mu.Lock()
	defer t.heard.mu.Unlock()
	t.heard.complaints = nil
}

// Requests are the addresses that were loaded.
func (t *Tab) Requests() []string {
	t.heard.mu.Lock()
	defer t.heard.mu.Unlock()
	return slices.Clone(t.heard.requests)
}

// await waits until a complaint contains text.
func (t *Tab) await(text string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if slices.ContainsFunc(t.Complaints(), func(c string) bool { return strings.Contains(c, text) }) {
			return nil
		}
	}
	return fmt.Errorf("no complaint with %q in %q", text, t.Complaints())
}

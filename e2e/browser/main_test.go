// Package browser_test looks at the page in a real Chromium: what a person sees and does, on files that `shadow report`
// wrote and on a running `shadow serve`. What it saw is in build/screenshots.
package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackagent/internal/testbrowser"
	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
)

// One browser for all tests: each has a tab of its own.
var chromium = sync.OnceValues(func() (*testbrowser.Browser, error) { return testbrowser.Start(context.Background()) })

func TestMain(m *testing.M) {
	testobjects.SetEnvironment()
	code := m.Run()
	if b, err := chromium(); err == nil {
		b.Close()
	}
	os.Exit(code)
}

// full is the long form: more sizes of the window, more programs, every view.
func full() bool { return os.Getenv("STACKAGENT_E2E") == "full" }

// tab is a page that a test looks at. At the end of the test nothing may have been complained about.
type tab struct {
	*testing.T
	*testbrowser.Tab
}

// The sizes of windows.
var (
	laptop = [2]int{1280, 900}
	phone  = [2]int{360, 740}
	wall   = [2]int{3840, 2160}
)

// open opens an address and waits until the page shows it.
func open(t *testing.T, address string, size [2]int) tab {
	t.Helper()
	b := blank(t, size)
	b.load(address)
	return b
}

// blank opens an empty tab.
func blank(t *testing.T, size [2]int) tab {
	t.Helper()
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	page, err := b.Tab(size[0], size[1])
	if err != nil {
		t.Fatal(err)
	}
	tab := tab{t, page}
	t.Cleanup(func() {
		if t.Failed() {
			tab.shoot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		for _, complaint := range page.Complaints() {
			t.Errorf("the browser complains: %s", complaint)
		}
		page.Close()
	})
	return tab
}

// must ends the test on an error.
func (t tab) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// load goes to an address.
func (t tab) load(address string) {
	t.Helper()
	t.must(t.Go(address))
	t.until(ready + ` || ` + failed)
	if why := eval[string](t, `document.querySelector("#failed")?.innerText ?? ""`); why != "" {
		t.Fatalf("%s: %s", address, why)
	}
}

// until waits for a condition in the page.
func (t tab) until(condition string) {
	t.Helper()
	t.must(t.Until(condition))
}

// eval is an expression's value in the page.
func eval[T any](t tab, expression string) T {
	t.Helper()
	v, err := testbrowser.Eval[T](t.Tab, expression)
	t.must(err)
	return v
}

// click clicks an element.
func (t tab) click(selector string) {
	t.Helper()
	t.must(t.Click(selector))
}

// shoot keeps a picture of the window.
func (t tab) shoot(name string) {
	t.Helper()
	dir := filepath.Join(testjvm.Root(t), "build", "screenshots")
	picture, err := t.Screenshot()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		t.Errorf("no picture %s: %v", name, err)
	}
}

// quoted is a string as JavaScript has it.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be written
	}
	return string(b)
}

// state is what the root element says of the page: data-view and so on.
func (t tab) state(name string) string {
	t.Helper()
	return eval[string](t, "document.documentElement.dataset."+name+" ?? ''")
}

// shows waits for a state.
func (t tab) shows(name, value string) {
	t.Helper()
	t.until(fmt.Sprintf("document.documentElement.dataset.%s === %s", name, quoted(value)))
}

// address is what the browser shows of it.
func (t tab) address() string { t.Helper(); return eval[string](t, "location.href") }

// fits fails if the page can be scrolled sideways.
func (t tab) fits() {
	t.Helper()
	if over := eval[[]string](t, `(() => {
		const y = scrollY;
		scrollTo(1e6, y);
		const far = scrollX, width = document.documentElement.clientWidth;
		scrollTo(0, y);
		if (far === 0) return [];
		const clips = e => e && e !== document.documentElement && (getComputedStyle(e).overflowX !== "visible" || clips(e.parentElement));
		return ["by " + far, ...[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width && !clips(e.parentElement))
			.map(e => e.outerHTML.slice(0, 120) + " to " + e.getBoundingClientRect().right).slice(0, 8)];
	})()`); len(over) > 0 {
		t.Errorf("wider than the window: %s", strings.Join(over, "\n\t"))
	}
}

// onlyItself fails if the page loaded anything but itself.
func (t tab) onlyItself(address string) {
	t.Helper()
	page, _, _ := strings.Cut(address, "#")
	if others := slices.DeleteFunc(t.Requests(), func(url string) bool {
		url, _, _ = strings.Cut(url, "#")
		return url == page || strings.HasPrefix(url, "data:")
	}); len(others) > 0 {
		t.Errorf("the page loaded %q", others)
	}
}

package browser_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/store/storetest"
)

// TestHostileNames: what a JVM calls its classes, threads and executors is text on the page and nothing else. Whatever a
// name ran or loaded would violate the page's policy, and every test fails on that.
func TestHostileNames(t *testing.T) {
	testjvm.Shared(t)
	root, names := t.TempDir(), slices.Sorted(maps.Values(storetest.Attacks))
	dir, err := storetest.Hostile(root, names)
	if err == nil {
		err = storetest.Submit(root, names)
	}
	if err == nil {
		err = storetest.Schedule(dir, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := reportOf(t, testjvm.Profile{Dir: dir})
	b := open(t, address, laptop)
	b.onlyItself(address)
	views := viewsOf(b)
	script := storetest.Attacks["end of script"]
	shown := eval[[]string](b, "[...document.querySelectorAll('"+rowsOf(classes)+"')].map(r => r.dataset.key)")
	if !slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(s, script) }) {
		t.Errorf("no class %q in %q", script, shown)
	}
	b.harmless("first screen")
	b.shoot("hostile")
	b.click(rowsOf(classes) + " a")
	b.shows("view", "class")
	b.harmless("a class")
	for _, view := range views {
		b.click(tabOf(view))
		b.shows("view", view)
		b.must(b.Hover(brush, 0.5, 0.5))
		b.harmless(view)
		b.fits()
	}
	// A link is hostile as well.
	b.load(address + "#view=class&name=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&from=1e999&to=-1&zoom=NaN-x&sort-class=__proto__&find-class=%5C&hide=%3Cb%3E&task=1e308&measure=constructor")
	b.harmless("a link")
}

// harmless fails if a name became markup.
func (t tab) harmless(what string) {
	t.Helper()
	if found := eval[[]string](t, `[...document.querySelectorAll("img, iframe, object, embed, base, link[rel=stylesheet], form[action], a[href^='javascript' i], [onerror], [onload], [onmouseover], [onclick]")]
		.map(e => e.outerHTML.slice(0, 200))`); len(found) > 0 {
		t.Errorf("%s: a name became %q", what, found)
	}
	if n := eval[int](t, `[...document.scripts].filter(s => s.type !== "application/json").length`); n != 1 {
		t.Errorf("%s: %d scripts", what, n)
	}
}

package testbrowser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// served opens a tab on a page with this body and policy.
func served(t *testing.T, policy, body string) *Tab {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang=en><title>t</title><link rel=icon href="data:,">%s`, body)
	}))
	t.Cleanup(s.Close)
	b, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	tab, err := b.Tab(800, 600)
	if err == nil {
		err = tab.Go(s.URL)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestComplaints: what a test of a page relies on being heard.
func TestComplaints(t *testing.T) {
	tab := served(t, "", "<p>quiet")
	if c := tab.Complaints(); len(c) > 0 {
		t.Errorf("a quiet page: %q", c)
	}
	for script, want := range map[string]string{
		`console.error("one")`:                     "one",
		`console.warn("two")`:                      "two",
		`setTimeout(() => { throw Error("tri") })`: "tri",
		`void Promise.reject(Error("four"))`:       "four",
		`fetch("/missing")`:                        "404",
	} {
		tab.Forgive()
		if err := tab.Script(script); err != nil {
			t.Error(err)
		}
		if err := tab.await(want); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestPolicy: violations of a page's policy are heard.
func TestPolicy(t *testing.T) {
	tab := served(t, "default-src 'none'; img-src data:", `<script>window.ran = 1</script><p style="color:red">x<img src="data:," onerror="window.ran = 2">`)
	for _, want := range []string{"script-src-elem", "style-src-attr", "script-src-attr"} {
		if err := tab.await(want); err != nil {
			t.Error(err)
		}
	}
	if ran, err := Eval[bool](tab, "window.ran !== undefined"); err != nil || ran {
		t.Errorf("ran: %v, %v", ran, err)
	}
}

// TestInput: mouse and keys come to the page as a person's do.
func TestInput(t *testing.T) {
	tab := served(t, "", `<div id=pad tabindex=0 style="width:400px;height:100px;margin-top:900px"></div><input id=field><script>
		window.seen = [];
		for (const type of ["mousedown", "mousemove", "mouseup", "click"])
			document.getElementById("pad").addEventListener(type, e => seen.push(type + (e.isTrusted ? "" : "?") + e.buttons));
	</script>`)
	if err := tab.Drag("#pad", 0.25, 0.75, 2); err != nil {
		t.Fatal(err)
	}
	seen, err := Eval[[]string](tab, "seen")
	if want := "mousemove0 mousedown1 mousemove1 mousemove1 mouseup0 click0"; err != nil || strings.Join(seen, " ") != want {
		t.Errorf("%v, want %s (%v)", seen, want, err)
	}
	if err := tab.Click("#field"); err != nil {
		t.Fatal(err)
	}
	if err := tab.Type("ab"); err != nil {
		t.Fatal(err)
	}
	if v, err := Eval[string](tab, "document.getElementById('field').value"); err != nil || v != "ab" {
		t.Errorf("typed %q (%v)", v, err)
	}
}

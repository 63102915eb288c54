package browser_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web"
	"stackagent/shadow/store"
	"stackagent/shadow/store/storetest"
)

// figures are live figures that a test makes: each snapshot differs from the one before.
type figures struct {
	mu       sync.Mutex
	names    map[string]string // of JVMs, classes and so on
	snapshot float64
	findings []live.Held
	past     []live.Held
	ended    string
}

func (f *figures) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// course is a series of n values that changes from snapshot to snapshot; its first ones are not known.
func (f *figures) course(n int) live.Points {
	p := make(live.Points, n)
	for i := range p {
		p[i] = float32(10 + 5*math.Sin((float64(i)+f.snapshot)/9))
	}
	p[0], p[1] = float32(math.NaN()), float32(math.NaN())
	return p
}

func (f *figures) row(name, folder string) live.Row {
	rate, wait := 1000+f.snapshot, 2.5e6
	return live.Row{Session: folder, Folder: folder, Program: name, Host: name, PID: 4711, State: "running", LagMs: 200, StartedRate: &rate, FinishedRate: &rate,
		QueueP99Ns: &wait, CPUs: []live.Share{{Key: "application", Value: 1.5}}, Findings: len(f.findings),
		Sparks: live.Sparks{Finished: f.course(60), QueueP99Ns: f.course(60), CPUs: f.course(60), Lost: f.course(60)}}
}

// Fleet has a row for each hostile name, and a quiet JVM of which nothing is known.
func (f *figures) Fleet() *live.Fleet {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshot++
	fleet := &live.Fleet{JVMs: []live.Row{f.row("shop.Orders", "orders")}}
	for what, name := range f.names {
		fleet.JVMs = append(fleet.JVMs, f.row(name, what))
	}
	fleet.JVMs = append(fleet.JVMs, live.Row{Session: "quiet", Folder: "quiet", State: "starting"})
	return fleet
}

func (f *figures) JVM(folder string) *live.JVM {
	if folder != "orders" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshot++
	flow := live.Flow{Finished: 60 * f.snapshot, Rate: f.snapshot, Queue: &live.Times{P50Ns: 1e6, P99Ns: 2e7}, Service: &live.Times{P50Ns: 1e5, P99Ns: 3e6}, Spark: f.course(60)}
	v := &live.JVM{Row: f.row("shop.Orders", "orders"), EndNs: 4e11 + 1e9*f.snapshot, NowNs: 4e11 + 1e9*f.snapshot, BucketNs: 1e9, WindowNs: 6e10,
		Findings: f.findings, Past: f.past, Bound: "Both CPUs compute.", Missing: map[string]string{"running_now": "the agent does not say what runs"}, Notes: []string{storetest.Attacks["script"]}}
	v.Row.Ended = f.ended
	if f.ended != "" {
		v.Row.State = "ended"
	}
	for _, key := range []string{"started", "finished", "threw", "rejected", "running", "queued", "gc", "cpu:application", "cpu:gc"} {
		v.Series = append(v.Series, live.Series{Key: key, Label: key, Values: f.course(300)})
	}
	for what, name := range f.names {
		v.Classes = append(v.Classes, live.Class{Name: name, Flow: flow})
		v.Executors = append(v.Executors, live.Executor{ID: float64(len(v.Executors)), Name: name, Site: name, Workers: 2, Flow: flow})
		v.Queued = append(v.Queued, live.Open{Task: what, Class: name, Executor: name, Thread: name, Site: name, AgeNs: 1e9 * float64(len(v.Queued))})
	}
	return v
}

func (f *figures) WriteMetrics(*bytes.Buffer, func(string) bool) {}

// shadowOf is a shadow with these figures and a store.
type shadowOf struct {
	*testing.T
	figures *figures
	store   string
	address string // without the scheme
	stop    func()
}

func startShadow(t *testing.T) *shadowOf {
	t.Helper()
	s := &shadowOf{T: t, figures: &figures{names: storetest.Attacks}, store: t.TempDir(), address: "127.0.0.1:0"}
	for _, name := range []string{"one", "two"} {
		w, err := store.OpenWriter(s.store, name, name)
		if err == nil {
			w.Manifest = store.Manifest{Session: name, WallUnixNs: 1_700_000_000_000_000_000, StartNs: 1, EndNs: 2e9, Ended: store.EndedExit, JVM: store.JVM{MainClass: storetest.Attacks["script"]}}
			err = w.Commit(&store.Part{Range: store.Range{From: 1, To: 1}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

// start serves the page, after a restart at the same address.
func (s *shadowOf) start() {
	s.Helper()
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	s.address = l.Addr().String()
	server := web.New(web.Options{
		Sessions: func() []ingest.Progress {
			return []ingest.Progress{{Session: "orders", Folder: "orders", LastBatch: time.Now()}}
		}, Totals: func() ingest.Totals { return ingest.Totals{} }, Live: s.figures, Store: s.store,
		Data: func(context.Context, string, io.Writer, func(web.Progress)) error { return nil }, Bus: "nats://127.0.0.1:4222", Note: s.Logf, Now: time.Now,
	})
	ctx, cancel := context.WithCancel(context.Background()) // that of the test ends before its tabs are closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(ctx, l) // ends with the test
	}()
	s.stop = func() { cancel(); <-ended }
}

func (s *shadowOf) page(path string) string { return "http://" + s.address + path }

func TestFleet(t *testing.T) {
	s := startShadow(t)
	b := open(t, s.page("/"), laptop)
	b.connected("live")
	if n := eval[int](b, `document.querySelectorAll("#fleet tr[data-session]").length`); n != len(storetest.Attacks)+2 {
		t.Errorf("%d rows", n)
	}
	if n := eval[int](b, `document.querySelectorAll("#fleet .spark .line[d^=M]").length`); n != 4*(len(storetest.Attacks)+1) {
		t.Errorf("%d curves", n)
	}
	const rate = `document.querySelector("#fleet tr[data-session=orders] td[data-key=rate]").textContent`
	first := eval[string](b, rate)
	b.until(rate + " !== " + fmt.Sprintf("%q", first)) // the next snapshot
	b.click(`#fleet button[data-sort="name"]`)
	if sorted := eval[bool](b, `(() => { const names = [...document.querySelectorAll("#fleet tbody th .words")].map(e => e.textContent);
		return document.querySelector("#fleet th[aria-sort=ascending]") !== null && names.indexOf("quiet") > names.indexOf("--help") })()`); !sorted {
		t.Error("the rows are not sorted")
	}
	b.click(`#fleet tr[data-session="orders"] a`)
	b.until(`document.querySelector("#jvm")?.dataset.folder === "orders"`)
}

func TestStored(t *testing.T) {
	s := startShadow(t)
	b := open(t, s.page("/"), laptop)
	rows := func(n int) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelectorAll("#stored tr[data-session]").length === %d`, n))
	}
	rows(3) // with the one that runs
	b.click("#stored-search")
	b.must(b.Type("two"))
	rows(1)
	b.click("#stored tr[data-session=two] .rename")
	b.until(`document.activeElement.id === "label-name"`)
	b.must(b.Type("<b>after the fix"))
	b.click("#dialog-yes")
	b.until(`document.querySelector("#stored tr[data-session=two] th .words").textContent === "<b>after the fix"`)
	b.must(b.Script(`const search = document.querySelector("#stored-search"); search.value = ""; search.dispatchEvent(new Event("input"))`))
	rows(3)
	b.click("#stored tr[data-session=one] input")
	b.click("#stored tr[data-session=two] input")
	if href := eval[string](b, `document.querySelector("#compare").getAttribute("href")`); href != "/sessions/one/report#view=compare&with=two" {
		t.Errorf("compare leads to %s", href)
	}
	b.click("#stored tr[data-session=one] .delete")
	b.until(`document.activeElement.id === "dialog-no"`)
	b.accessible("the dialog")
	b.click("#dialog-yes")
	rows(2)
	if _, err := os.Stat(filepath.Join(s.store, "one")); !os.IsNotExist(err) {
		t.Errorf("the session is still there: %v", err)
	}
}

// TestLiveFindings: findings appear and go, a screen reader hears of them, and nothing else moves.
func TestLiveFindings(t *testing.T) {
	testjvm.Shared(t)
	s := startShadow(t)
	b := open(t, s.page("/jvm/orders"), laptop)
	b.connected("live")
	b.must(b.Script(`window.moved = []; new PerformanceObserver(l => l.getEntries().forEach(e => moved.push(...e.sources.filter(s => !s.node?.parentElement?.closest("#findings")).map(s => s.node?.className ?? "?")))).observe({type: "layout-shift"})`))
	f := live.Held{Finding: advice.Finding{Rule: "pool", Kind: advice.Advice, Title: "Pool <b>tax</b> has one thread", Text: strings.Repeat("Give it more. ", 40)}}
	s.figures.set(func() {
		s.figures.findings = []live.Held{f, {Finding: advice.Finding{Rule: "losses", Kind: advice.Caution, Title: "Events were lost"}}}
	})
	b.until(`document.querySelectorAll(".finding").length === 2 && document.querySelector("#announcements").textContent.includes("New finding: Pool <b>tax</b>")`)
	end := 40e9
	f.EndNs = &end
	s.figures.set(func() { s.figures.findings, s.figures.past = nil, []live.Held{f} })
	b.until(`document.querySelectorAll(".finding").length === 1 && document.querySelector(".finding[data-rule=pool][data-ended]") !== null`)
	b.until(`document.querySelector("#announcements").textContent.includes("No longer found") && document.querySelector("#findings").textContent.includes("Both CPUs compute.")`)
	if moved := eval[[]string](b, "moved"); len(moved) > 0 {
		t.Errorf("the layout moved: %q", moved)
	}
	s.figures.set(func() { s.figures.ended = "exit" })
	b.connected("gone")
	if text := eval[string](b, `document.querySelector("#report-now").textContent`); text != "Open the report" {
		t.Errorf("the button says %q", text)
	}
}

// TestReconnect: the page survives the shadow's restart, and rests when it is told to or nobody looks.
func TestReconnect(t *testing.T) {
	s := startShadow(t)
	b := open(t, s.page("/jvm/orders"), laptop)
	const (
		figure = `document.querySelector(".tile b").textContent`
		dimmed = `Number(getComputedStyle(document.querySelector("#axis")).opacity) < 1`
	)
	b.connected("live")
	s.stop()
	b.connected("reconnecting")
	b.until(dimmed)
	if eval[string](b, figure) == "" {
		t.Error("the last figures are gone")
	}
	s.start()
	b.connected("live")
	b.until("!(" + dimmed + ")")
	b.Forgive() // of the shadow that was away
	b.click("#pause")
	b.connected("paused")
	before := eval[string](b, figure)
	time.Sleep(1500 * time.Millisecond) // more than a snapshot
	if after := eval[string](b, figure); after != before {
		t.Errorf("paused, but %s became %s", before, after)
	}
	b.click("#pause")
	b.until(figure + " !== " + fmt.Sprintf("%q", before))
	hide := `Object.defineProperty(document, "hidden", {value: %v, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`
	b.must(b.Script(fmt.Sprintf(hide, true)))
	b.connected("hidden")
	b.must(b.Script(fmt.Sprintf(hide, false)))
	b.connected("live")
	b.load(s.page("/"))
	b.must(b.Go(s.page("/jvm/quiet"))) // no session of the store
	if text := eval[string](b, "document.body.textContent"); !strings.Contains(text, "no session has this name") {
		t.Errorf("a JVM that is not there: %s", text)
	}
	b.Forgive()
}

// TestLiveLooks: both pages can be read and used at every size, light and dark.
func TestLiveLooks(t *testing.T) {
	s := startShadow(t)
	s.figures.names = map[string]string{"long": storetest.Attacks["long"], "script": storetest.Attacks["script"]} // axe looks at each cell
	s.figures.findings = []live.Held{{Finding: advice.Finding{Rule: "pool", Kind: advice.Advice, Title: "Pool tax has one thread", Text: "Give it more."}}}
	sizes := map[string][2]int{"laptop": laptop, "phone": phone}
	if full() {
		sizes["wall"] = wall
	}
	for name, size := range sizes {
		for _, theme := range []string{"light", "dark"} {
			if !full() && (name == "laptop") != (theme == "light") {
				continue
			}
			b := blank(t, size)
			b.must(b.Media("", "prefers-color-scheme="+theme))
			for what, path := range map[string]string{"fleet": "/", "jvm": "/jvm/orders"} {
				b.load(s.page(path))
				b.connected("live")
				b.fits()
				b.accessible(what + ", " + name + ", " + theme)
				b.shoot(strings.Join([]string{"live", what, name, theme}, "-"))
			}
		}
	}
}

package browser_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// patience bounds no figure: on a busy machine everything is late.
const patience = 2 * time.Minute

// process is a command whose output a failed test shows.
type process struct {
	*exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// run starts a command that the end of the test kills.
func run(t *testing.T, line ...string) (*process, io.WriteCloser) {
	t.Helper()
	p := &process{Cmd: exec.Command(line[0], line[1:]...)}
	p.Stdout, p.Stderr = p, p
	stdin, err := p.StdinPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			t.Logf("%s said:\n%s", filepath.Base(line[0]), p.out.String())
		}
	})
	return p, stdin
}

func (p *process) kill() {
	_ = p.Process.Kill() // it may have ended
	_ = p.Wait()
}

// free is an address on which nothing listens, and which the kernel gives to no connection.
func free(t *testing.T) string {
	t.Helper()
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12_000+rand.IntN(20_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// server is `shadow serve` on a store, always at the same addresses.
type server struct {
	*process
	bus, page, store string
}

func newServer(t *testing.T) *server {
	return &server{bus: free(t), page: free(t), store: filepath.Join(t.TempDir(), "store")}
}

// start starts it, once more if it was killed.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.process, _ = run(t, testjvm.Shadow(t), "serve", "--listen", s.bus, "--http", s.page, "--store", s.store)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + s.page + "/healthz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("shadow serve does not answer")
		}
	}
}

// java starts the program of testdata/live; closing its stdin ends it.
func (s *server) java(t *testing.T, session string) (*process, io.WriteCloser) {
	t.Helper()
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	spool := filepath.Join(t.TempDir(), "spool")
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	return run(t, jdk.Tool("java"), fmt.Sprintf("-agentpath:%s=bus=nats://%s,tokenfile=%s,session=%s,spool=%s", testjvm.Library(t), s.bus, filepath.Join(s.store, "token"), session, spool),
		"-cp", testjvm.Compile(t, jdk, filepath.Join("testdata", "live")), "Main")
}

// connected waits for a state of the page's connection.
func (t tab) connected(state string) {
	t.Helper()
	t.until(`document.querySelector("` + connection + `")?.dataset.state === "` + state + `"`)
}

// changes waits until an expression has had so many values since.
func (t tab) changes(expression string, times int) {
	t.Helper()
	for range times {
		before := eval[string](t, expression)
		t.until("(" + expression + ") !== " + quoted(before))
	}
}

// TestLive: a JVM appears, its figures move, findings appear, the shadow dies and comes back, and at the end its session is
// opened and deleted.
func TestLive(t *testing.T) {
	testjvm.Shared(t)
	s := newServer(t)
	s.start(t)
	b := blank(t, laptop)
	b.load("http://" + s.page + "/")
	b.connected("live")
	b.accessible("a fleet without JVMs")
	b.shoot("live-empty")

	java, stdin := s.java(t, "shop")
	b.until(`document.querySelector('` + fleetRow + `[data-state="running"]')`)
	b.changes(text(fleetRow), 3)
	b.accessible("a fleet")
	b.shoot("live-fleet")
	b.fits()
	b.click(fleetRow + " a")
	b.until("document.querySelector('" + jvm + "')")
	b.connected("live")
	b.until(text(liveClasses) + `.includes("Main$Job")`)
	b.changes(text(liveClasses), 3)
	b.until("document.querySelector('" + finding + `[data-rule="occupied"]')`)
	b.accessible("a JVM")
	b.fits()
	b.shoot("live-jvm")
	b.must(b.Media("", "prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
	b.accessible("a JVM, dark")
	b.must(b.Resize(phone[0], phone[1]))
	b.changes(text(liveClasses), 1)
	b.fits()
	b.shoot("live-phone")
	b.must(b.Resize(laptop[0], laptop[1]))
	b.must(b.Media(""))

	s.reportNow(t)
	s.restart(t, b)
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if err := java.Wait(); err != nil {
		t.Errorf("java: %v", err)
	}
	s.stored(t, b)
	b.must(b.Go("about:blank")) // nothing to complain about when the shadow goes
}

// reportNow opens the report of a JVM that runs.
func (s *server) reportNow(t *testing.T) {
	t.Helper()
	b := open(t, "http://"+s.page+"/jvm/shop", laptop)
	b.click(reportNow)
	b.until("document.querySelector('" + sentence + "')")
	b.until(ready)
	if eval[string](b, text(classes)) == "" {
		t.Error("the report up to now has no classes")
	}
	b.accessible("a report up to now")
	b.shoot("live-report")
}

// restart kills the shadow: the page says so, and goes on by itself when it is back.
func (s *server) restart(t *testing.T, b tab) {
	t.Helper()
	b.quiet()
	s.kill()
	b.connected("reconnecting")
	b.shoot("live-reconnecting")
	s.start(t)
	b.connected("live")
	b.changes(text(liveClasses), 2)
	for _, complaint := range b.Complaints() {
		// The shadow is away, or has not heard of the JVM again.
		if !strings.Contains(complaint, "net::ERR_") && !strings.Contains(complaint, "404 (Not Found) (http://"+s.page+"/events?jvm=") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	b.Forgive()
}

// quiet fails on complaints so far.
func (t tab) quiet() {
	t.Helper()
	for _, complaint := range t.Complaints() {
		t.Errorf("the browser complains: %s", complaint)
	}
	t.Forgive()
}

// stored looks at the session that has ended: it can be opened, found and deleted.
func (s *server) stored(t *testing.T, b tab) {
	t.Helper()
	b.load("http://" + s.page + "/")
	row := storedRow + `[data-session="shop"]`
	b.until("document.querySelector('" + row + " .delete')")
	b.click("#stored-search")
	b.must(b.Type("nothing like it"))
	b.until("!document.querySelector('" + row + "')")
	b.must(b.Script(`(e => { e.value = ""; e.dispatchEvent(new Event("input")) })(document.getElementById("stored-search"))`))
	b.until("document.querySelector('" + row + "')")
	b.accessible("stored sessions")
	b.shoot("live-stored")
	b.click(row + " .open")
	b.until("document.querySelector('" + sentence + "')")
	b.until(ready)
	b.must(b.Drag(brush, 0.2, 0.6, 5))
	b.until("document.documentElement.dataset.to")
	b.load("http://" + s.page + "/")
	b.click(row + " .delete")
	b.until("document.querySelector('dialog[open]')")
	b.accessible("the question before deleting")
	b.shoot("live-delete")
	b.click("#dialog-no")
	b.until("!document.querySelector('dialog[open]')")
	if _, err := os.Stat(filepath.Join(s.store, "shop")); err != nil {
		t.Errorf("deleted without a yes: %v", err)
	}
	b.click(row + " .delete")
	b.click("#dialog-yes")
	b.until("!document.querySelector('" + row + "')")
	if _, err := os.Stat(filepath.Join(s.store, "shop")); !os.IsNotExist(err) {
		t.Errorf("the session is still there: %v", err)
	}
}

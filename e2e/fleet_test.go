package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
	"stackagent/shadow/store/objectstore"
)

// keysIn lists a store.
func keysIn(t *testing.T, address string) (keys []string) {
	t.Helper()
	s, err := objectstore.Open(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	for o, err := range s.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// Shadows that store in an object store are killed while the program runs and while they upload. In the end the session is
// there once and whole, and read from there it has what the program did.
func TestFleetKilled(t *testing.T) {
	testjvm.Shared(t)
	bucket := testobjects.Serve(t)
	address := bucket.Address("traces", "")
	o := testjvm.Example(t, "million")
	o.Args = []string{"3000000"}
	addr, work := freeAddr(t), filepath.Join(t.TempDir(), "work")
	again := func() *server {
		s := serveWith(t, addr, address, []string{"--listen", addr, "--work", work})
		s.says(t, "page http") // from then on it takes its time to end
		return s
	}
	s := again()
	cmd := o.Command(t, testjvm.JDKs(t)[0], agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(work, "token"), "session=killed"))
	java := start(t, nil, cmd.Java()...)
	waitStored(t, filepath.Join(work, "killed"))
	s.kill(t)
	s = again()
	if out, exit := java.end(t); exit != 0 || out != "ran 3000000\n" {
		t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
	}
	s.store = work // where its keys are
	deliverKept(t, s, java.stderr.String())
	waitEnded(t, filepath.Join(work, "killed"))
	for range 3 { // the last uploads begin when the shadow is told to end
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		s.kill(t)
		s = again()
	}
	s.stop(t)
	var manifests []string
	for _, key := range keysIn(t, address) {
		if strings.HasSuffix(key, "/manifest.json") {
			manifests = append(manifests, key)
		}
	}
	if len(manifests) != 1 {
		t.Fatalf("the store has the sessions %v, want one\n%s", manifests, s.stderr.String())
	}
	at, options, _ := strings.Cut(address, "?")
	session := testjvm.Profile{Dir: at + "/" + strings.TrimSuffix(manifests[0], "/manifest.json") + "?" + options}
	checkMillion(t, session, 3_000_000)
	var rows []struct {
		Executions int64
		WallNs     int64 `json:"wall_ns"`
	}
	if out := shadow(t, "fleet", "top", address, "--by", "service", "--format", "json"); out.exit != 0 || json.Unmarshal([]byte(out.out), &rows) != nil || len(rows) != 1 {
		t.Fatalf("fleet top: %+v", out)
	}
	if stats := session.Stats(t); rows[0].Executions != stats.Tasks.Executions || float64(rows[0].WallNs) != stats.Metrics["wall_ns"].Sum {
		t.Errorf("the roll-ups have %+v, the session %d executions of %v ns", rows[0], stats.Tasks.Executions, stats.Metrics["wall_ns"].Sum)
	}
	if rest := strings.Join(slices.DeleteFunc(keysIn(t, address), func(k string) bool { return !strings.Contains(k, ".tmp") }), " "); rest != "" {
		t.Errorf("left in the store: %s", rest)
	}
}

// Two shadows on one bus put their sessions into one bucket; one is killed while JVMs run, and started again at the end.
// Whoever stored what, the roll-ups have each execution that the agents counted once, before and after a compaction, and
// also second pieces know the names of classes.
func TestFleetTeam(t *testing.T) {
	testjvm.Shared(t)
	bucket := testobjects.Serve(t)
	address := bucket.Address("traces", "")
	const n, tasks = 3, 200_000
	nodes := 1
	if full() {
		nodes = 3
	}
	m, base := newTeam(t, nodes), t.TempDir()
	one, two := filepath.Join(base, "one"), filepath.Join(base, "two")
	begin := func(work string) *server { return m.shadow(t, address, "--work", work) }
	first := begin(one)
	wait := m.jvms(t, n, tasks)
	anyStored(t, one)
	second := begin(two)
	first.kill(t)
	wait()
	var produced int64
	pieces := 0
	for i := range n {
		dir := filepath.Join(two, fmt.Sprintf("j%02d", i))
		waitEnded(t, dir)
		m := readManifest(t, dir)
		produced += int64(m.Produced.Executions)
		if len(m.Pieces) > 0 {
			pieces++
			if out := shadow(t, "stats", dir); out.exit != 0 || strings.Contains(out.out, "unknown") || !strings.Contains(out.out, "Main$") {
				t.Errorf("stats of a second piece: %+v", out)
			}
		}
	}
	if pieces == 0 {
		t.Error("no session went from one shadow to the other")
	}
	second.stop(t)
	begin(one).stop(t) // what it had stored of sessions that have moved is rolled up when it ends
	check := func(when string) {
		var rows []struct{ Executions int64 }
		if out := shadow(t, "fleet", "top", address, "--by", "service", "--format", "json"); out.exit != 0 || json.Unmarshal([]byte(out.out), &rows) != nil || len(rows) != 1 {
			t.Fatalf("%s: fleet top: %+v", when, out)
		}
		if rows[0].Executions != produced || produced < n*tasks {
			t.Errorf("%s: the roll-ups have %d executions, the agents counted %d, the programs %d", when, rows[0].Executions, produced, n*tasks)
		}
		var classes []struct{ Name string }
		if out := shadow(t, "fleet", "top", address, "--by", "class", "--format", "json"); out.exit != 0 || json.Unmarshal([]byte(out.out), &classes) != nil || len(classes) == 0 {
			t.Fatalf("%s: fleet top: %+v", when, out)
		}
		for _, c := range classes {
			if c.Name == "" || strings.HasPrefix(c.Name, "unknown class") {
				t.Errorf("%s: the roll-ups have executions of %q", when, c.Name)
			}
		}
	}
	check("fresh")
	if out := shadow(t, "fleet", "compact", address); out.exit != 0 {
		t.Errorf("fleet compact: %+v", out)
	}
	check("compacted")
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/testobjects"
	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/store/objectstore"
	"stackagent/shadow/store/objectstore/objectstoretest"
)

// Rounds of the tests below. In full, a process is killed at each of its requests, before it and after it.
const (
	someKills = 2
	mostKills = 400 // of a process that is started until it ends by itself
)

func killedInFull() bool { return os.Getenv("STACKAGENT_TORTURE") == "full" }

// command is the command as a process of its own, on the test's machine and with its clock.
func command(args ...string) (*exec.Cmd, *safeBuffer) {
	cmd, errs := exec.Command(os.Args[0], args...), new(safeBuffer)
	cmd.Env, cmd.Stderr = append(os.Environ(), commandVariable+"=1"), errs
	return cmd, errs
}

// killed starts the command and kills it at a request to the server. It reports whether the command ended by itself.
func killed(t *testing.T, server *testobjects.Server, m moment, args ...string) (ended bool) {
	t.Helper()
	var seen atomic.Int64
	started := make(chan struct{})
	cmd, errs := command(args...)
	server.Fail(func(*http.Request) testobjects.Fault {
		if seen.Add(1) != m.request {
			return nil
		}
		return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			<-started
			if m.done {
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
			_ = cmd.Process.Kill() // it may have ended
			panic(http.ErrAbortHandler)
		}
	})
	defer server.Fail(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	if args[0] == "serve" {
		go endServing(cmd, errs)
	}
	return wasNotKilled(t, cmd, errs)
}

// endServing ends a serving shadow, which then uploads what waits on its disk.
func endServing(cmd *exec.Cmd, errs *safeBuffer) {
	for range 1000 {
		if strings.Contains(errs.String(), "bus nats://") {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have been killed
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// wasNotKilled waits for the end of a command, which is a good one or a kill.
func wasNotKilled(t *testing.T, cmd *exec.Cmd, errs *safeBuffer) bool {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return false
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, errs.String())
	}
	return true
}

// runAt runs the command in this process, by another clock.
func runAt(t *testing.T, now time.Time, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := console.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: os.Environ(), Executable: os.Executable, Now: func() time.Time { return now }}
	if code := Run(context.Background(), args, env); code != 0 {
		t.Fatalf("%v: exit %d\n%s", args, code, errs.String())
	}
}

// fleetSums are the sums of a store by level, service, class and metric; nothing may be missing.
func fleetSums(t *testing.T, address string, levels ...rollup.Level) map[string][4]int64 {
	t.Helper()
	s, err := objectstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][4]int64{}
	for _, l := range levels {
		a, err := rollup.Open(s).Read(t.Context(), rollup.Query{Level: l}, func(rows []rollup.Row) error {
			for i := range rows {
				r := &rows[i]
				x := sums[fmt.Sprint(l, "|", r.Service, "|", r.Version, "|", r.Class, "|", r.Metric)]
				for i, v := range []int64{r.Count, r.Sum} {
					x[i] += v
				}
				for i, n := range r.Buckets {
					x[2], x[3] = x[2]+n, x[3]+n*int64(r.Index[i])
				}
				sums[fmt.Sprint(l, "|", r.Service, "|", r.Version, "|", r.Class, "|", r.Metric)] = x
			}
			return nil
		})
		if err != nil || len(a.Missing) > 0 {
			t.Fatalf("level %s: %v, missing %v", l, err, a.Missing)
		}
	}
	return sums
}

// unaccounted lists the objects of a store's roll-ups that their manifests do not account for.
func unaccounted(t *testing.T, address string) (left []string) {
	t.Helper()
	s, err := objectstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	var manifests bytes.Buffer
	var files []string
	for o, err := range s.List(t.Context(), objectstore.RollupsPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(o.Key, "rollups/manifests/") {
			files = append(files, o.Key)
			continue
		}
		body, _, err := s.GetRange(t.Context(), o.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := manifests.ReadFrom(body); err != nil {
			t.Fatal(err)
		}
		body.Close()
	}
	for _, key := range files {
		if !strings.Contains(manifests.String(), `"name":"`+filepath.Base(key)+`"`) {
			left = append(left, key)
		}
	}
	return left
}

// killedFleet is a store in a folder in which a compaction merges, merges again what was merged, and deletes; and the sums
// that it has whatever happens.
func killedFleet(t *testing.T) (folder string, want map[string][4]int64) {
	t.Helper()
	root, folder := t.TempDir(), filepath.Join(t.TempDir(), "fleet")
	now := time.Now()
	of := fleettest.Fleet{Sessions: 9, Services: 1, Days: 1, Instances: 2, Executions: 300, From: now.UTC().AddDate(0, 0, -9).Truncate(24 * time.Hour), Seed: 7}
	list, err := of.Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	executions := int64(0)
	for i, x := range list {
		runAt(t, now, "fleet", "add", folder, x.Dir)
		if i%3 == 2 && i+1 < len(list) { // what the first compactions replaced is old enough to go
			runAt(t, now.AddDate(0, 0, i-8), "fleet", "compact", folder)
		}
		var stats struct{ Tasks struct{ Executions int64 } }
		if code, out, errs := shadow(t, nil, "stats", x.Dir, "--format", "json"); code != 0 || json.Unmarshal([]byte(out), &stats) != nil {
			t.Fatal(errs)
		}
		executions += stats.Tasks.Executions
	}
	want = fleetSums(t, folder, rollup.Levels...)
	rolled := int64(0)
	for k, v := range want {
		if strings.HasPrefix(k, "detail|") && strings.HasSuffix(k, "|"+rollup.Executions) {
			rolled += v[0]
		}
	}
	if rolled != executions || rolled == 0 {
		t.Fatalf("%d executions are rolled up, the sessions have %d", rolled, executions)
	}
	return folder, want
}

// settled compacts by later and later clocks, and looks for what no manifest needs.
func settled(t *testing.T, address string, want map[string][4]int64, when string) {
	t.Helper()
	for _, later := range []time.Duration{0, 26 * time.Hour, 52 * time.Hour} {
		runAt(t, time.Now().Add(later), "fleet", "compact", address)
	}
	if got := fleetSums(t, address, rollup.Levels...); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: settled: other sums", when)
	}
	if left := unaccounted(t, address); len(left) > 0 {
		t.Errorf("%s: left in the store: %v", when, left)
	}
}

// moment is a request at which a process is killed, before or after it is done.
type moment struct {
	request int64
	done    bool
}

// moments runs a command that nobody kills, and counts its requests. From these it chooses: in full all, else those that
// put a manifest and some others.
func moments(t *testing.T, server *testobjects.Server, args ...string) (list []moment, n int64) {
	t.Helper()
	var mu sync.Mutex
	server.Fail(func(r *http.Request) testobjects.Fault {
		mu.Lock()
		defer mu.Unlock()
		n++
		if killedInFull() || r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".json") && strings.Contains(r.URL.Path, "manifest") {
			list = append(list, moment{n, false}, moment{n, true})
		}
		return nil
	})
	defer server.Fail(nil)
	cmd, errs := command(args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !wasNotKilled(t, cmd, errs) {
		t.Fatal("killed by somebody else")
	}
	for i := 0; !killedInFull() && i < someKills; i++ {
		list = append(list, moment{1 + rand.Int64N(n), i%2 == 1})
	}
	return list, n
}

// A compaction that is killed at any of its requests changes no sum, and the next ones finish it and clean up.
func TestCompactKilled(t *testing.T) {
	folder, want := killedFleet(t)
	server := testobjects.Start(t)
	places := 0
	fresh := func() string {
		places++
		address := server.Address(fmt.Sprint("fleet", places), "")
		s, err := objectstore.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		objectstoretest.Copy(t, s, filepath.Join(folder, "rollups"), "rollups")
		return address
	}
	list, n := moments(t, server, "fleet", "compact", fresh())
	if n < 25 {
		t.Errorf("a compaction of %d requests merges and deletes too little for this test", n)
	}
	for _, m := range list {
		address, when := fresh(), fmt.Sprintf("killed at request %d of %d, done %v", m.request, n, m.done)
		killed(t, server, m, "fleet", "compact", address)
		if got := fleetSums(t, address, rollup.Levels...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: other sums", when)
		}
		settled(t, address, want, when)
	}
}

// A compaction of a folder is killed at random moments, again and again until it ends.
func TestCompactKilledAtRandom(t *testing.T) {
	prepared, want := killedFleet(t)
	rounds := 1
	if killedInFull() {
		rounds = 20
	}
	for range rounds {
		folder := filepath.Join(t.TempDir(), "fleet")
		if err := os.CopyFS(folder, os.DirFS(prepared)); err != nil {
			t.Fatal(err)
		}
		kills := 0
		for delay := time.Duration(0); ; delay += 4 * time.Millisecond { // at last it has the time that it needs
			cmd, errs := command("fleet", "compact", folder)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			end := time.AfterFunc(delay+rand.N(30*time.Millisecond), func() { _ = cmd.Process.Kill() })
			ended := wasNotKilled(t, cmd, errs)
			end.Stop()
			if got := fleetSums(t, folder, rollup.Levels...); !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d kills: other sums", kills)
			}
			if ended {
				break
			}
			if kills++; kills == mostKills {
				t.Fatal("the compaction never ends")
			}
		}
		t.Logf("killed %d times", kills)
		settled(t, folder, want, fmt.Sprintf("killed %d times", kills))
		runAt(t, time.Now(), "fleet", "retain", folder, "--detail", "1d")
		coarse := maps.Clone(want)
		maps.DeleteFunc(coarse, func(k string, _ [4]int64) bool { return strings.HasPrefix(k, "detail|") })
		if got := fleetSums(t, folder, rollup.Day, rollup.Instance); !reflect.DeepEqual(got, coarse) {
			t.Error("without the detail: other sums")
		}
		if left, err := fs.Glob(os.DirFS(folder), "rollups/detail/*/*/*"); err != nil || len(left) > 0 {
			t.Errorf("left of the detail: %v, %v", left, err)
		}
	}
}

// Sessions and their roll-ups are put by a process that is killed at any of its requests. No reader sees a part of a session,
// and the next process puts what is left, once.
func TestAddKilled(t *testing.T) {
	t.Cleanup(remotefs.Forget)
	root := t.TempDir()
	of := fleettest.Fleet{Sessions: 2, Services: 1, Days: 1, Instances: 2, Executions: 200, From: time.Now().UTC().AddDate(0, 0, -3).Truncate(24 * time.Hour), Seed: 3}
	sessions, err := of.Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	server := testobjects.Start(t)
	places := 0
	fresh := func(serve bool) (address string, args []string) {
		places++
		address, work := server.Address(fmt.Sprint("fleet", places), ""), filepath.Join(root, fmt.Sprint("work", places))
		args = []string{"fleet", "add", "--raw", address}
		for _, x := range sessions {
			dir := filepath.Join(work, x.Name)
			if err := os.CopyFS(dir, os.DirFS(x.Dir)); err != nil {
				t.Fatal(err)
			}
			args = append(args, dir)
		}
		if serve {
			args = []string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", address, "--work", work}
		}
		return address, args
	}
	address, args := fresh(false)
	list, n := moments(t, server, args...)
	for range someKills { // shadows that serve make as many requests, and some to try the store
		list = append(list, moment{1 + rand.Int64N(n), rand.N(2) == 1})
	}
	want, stats := fleetSums(t, address, rollup.Levels...), visible(t, address)
	if len(stats) != len(sessions) {
		t.Fatalf("%d sessions are visible, want %d", len(stats), len(sessions))
	}
	for i, m := range list {
		address, args := fresh(i >= len(list)-someKills)
		kills := 1
		for killed(t, server, m, args...); !killed(t, server, moment{1 + rand.Int64N(n), m.done}, args...); kills++ {
			for name, out := range visible(t, address) {
				if stats[name] != out {
					t.Fatalf("killed at request %d of %d: session %s is visible in part", m.request, n, name)
				}
			}
			if kills == mostKills {
				t.Fatal("it never ends")
			}
		}
		when := fmt.Sprintf("%v, killed %d times, first at request %d of %d, done %v", args[:2], kills, m.request, n, m.done)
		if got := visible(t, address); !reflect.DeepEqual(got, stats) {
			t.Errorf("%s: the sessions are %d, want %d, or other ones", when, len(got), len(stats))
		}
		if got := fleetSums(t, address, rollup.Levels...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other sums", when)
		}
		settled(t, address, want, when)
	}
}

// visible are the sessions that readers see in a store, and what stats says of each.
func visible(t *testing.T, address string) map[string]string {
	t.Helper()
	s, err := objectstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	at, options, _ := strings.Cut(address, "?")
	all := map[string]string{}
	for o, err := range s.List(t.Context(), objectstore.SessionsPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		key, ok := strings.CutSuffix(o.Key, "/manifest.json")
		if !ok {
			continue
		}
		remotefs.Forget() // what another process did
		code, out, errs := shadow(t, nil, "stats", at+"/"+key+"?"+options, "--format", "json")
		if code != 0 {
			t.Fatalf("stats %s: exit %d\n%s", key, code, errs)
		}
		all[key] = strings.ReplaceAll(out, at, "")
	}
	return all
}

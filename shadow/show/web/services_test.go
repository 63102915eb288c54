package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

var fleetNow = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// fleetServer serves a fleet of two services, whose roll-ups are in a folder, and gives the executions of each.
func fleetServer(t *testing.T) (*Server, map[string]int64) {
	t.Helper()
	dir := t.TempDir()
	f := fleettest.Fleet{Sessions: 24, Services: 2, Instances: 3, Days: 4, Executions: 200, From: fleetNow.Add(-5 * 24 * time.Hour), Seed: 1}
	list, err := f.Generate(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	to, err := objectstore.OpenFolder(filepath.Join(dir, "fleet"))
	if err != nil {
		t.Fatal(err)
	}
	executions := map[string]int64{}
	for _, x := range list {
		if err := rollup.RollUp(t.Context(), to, x.Dir, x.Name, true); err != nil {
			t.Fatal(err)
		}
		m, err := os.ReadFile(filepath.Join(x.Dir, store.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		e, ok := catalog.Parse(x.Name, m, nil, fleetNow)
		if !ok {
			t.Fatalf("%s is no session", x.Dir)
		}
		executions[x.Labels.Service] += int64(e.Executions)
	}
	s := storeServer(t.TempDir())
	s.o.Now = func() time.Time { return fleetNow }
	s.o.Fleet = &Fleet{Objects: to}
	return s, executions
}

type topRow struct {
	Service, Name string
	Executions    int64
}

// answerTo is the answer to a question, with its rows.
func answerTo[R any](t *testing.T, s *Server, target string, edit func(*http.Request)) (Answer, []R) {
	t.Helper()
	w := ask(s, "GET", target, edit)
	var a Answer
	var rows []R
	if err := json.Unmarshal(w.Body.Bytes(), &a); w.Code != 200 || err != nil {
		t.Fatalf("%s: %d %v %s", target, w.Code, err, w.Body)
	}
	if err := json.Unmarshal(a.Rows, &rows); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return a, rows
}

// The sums on the page are the executions in the sessions.
func TestServices(t *testing.T) {
	s, want := fleetServer(t)
	a, rows := answerTo[topRow](t, s, "/services.json?by=service&last=7d", nil)
	if len(rows) != len(want) || a.Total != len(want) || a.Requests == 0 || a.Bytes == 0 || a.Lacking != 0 {
		t.Fatalf("%+v %+v", a, rows)
	}
	for _, r := range rows {
		if r.Executions != want[r.Service] {
			t.Errorf("%+v, want %d executions", r, want[r.Service])
		}
	}
	service := fleettest.Service(1)
	for _, by := range []string{"class", "executor", "session", "day"} {
		sum := int64(0)
		_, rows := answerTo[topRow](t, s, "/services.json?last=7d&service="+service+"&by="+by, nil)
		for _, r := range rows {
			if sum += r.Executions; r.Service != service {
				t.Errorf("by %s: %+v", by, r)
			}
		}
		if sum != want[service] {
			t.Errorf("by %s: %d executions, want %d", by, sum, want[service])
		}
	}
	if _, rows := answerTo[struct{ Figure string }](t, s, "/services/trends.json?last=7d", nil); len(rows) == 0 {
		t.Error("no trends")
	}
	answerTo[struct{}](t, s, "/services/outliers.json", nil)
	answerTo[struct{}](t, s, "/services/findings.json", nil)
	w := get(s, "/services/versions.json?last=7d&service="+service)
	var d struct {
		Rows struct {
			A string            `json:"version_a"`
			B string            `json:"version_b"`
			R []json.RawMessage `json:"rows"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); w.Code != 200 || err != nil || d.Rows.A != "1.0" || d.Rows.B != "1.1" || len(d.Rows.R) == 0 {
		t.Errorf("%d %v %s", w.Code, err, w.Body)
	}
	for target, code := range map[string]int{
		"/services.json?by=colour": 400, "/services.json?sort=colour": 400, "/services.json?last=x": 400, "/services/versions.json": 400,
		"/services.json?service=" + url.QueryEscape(strings.Repeat("x", 2000)): 400, "/services.json?service=%ff": 400,
		"/services/versions.json?service=nobody": 404, "/services/versions.json?service=" + service + "&last=7d&a=7&b=8": 400, "/services/colour.json": 404,
	} {
		if w := get(s, target); w.Code != code || strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("%s: %d, want %d: %s", target, w.Code, code, w.Body)
		}
	}
	if _, rows := answerTo[topRow](t, s, "/services.json?service="+url.QueryEscape("service-0[1]"), nil); len(rows) != 0 {
		t.Errorf("a name is no pattern: %+v", rows)
	}
	s.o.Fleet = nil
	for _, target := range []string{"/services", "/services.json"} {
		if w := get(s, target); w.Code != 404 {
			t.Errorf("%s: %d without a fleet", target, w.Code)
		}
	}
}

// Who may see one service sees nothing of another, also when the other's answer is kept.
func TestServicesSeen(t *testing.T) {
	s, _ := fleetServer(t)
	p, err := access.Parse([]byte(strings.Replace(policy, "services: [bank]", "services: ["+fleettest.Service(0)+"]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.o.Access = p
	as := func(user, group string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = proxyAddress
			r.Header.Set("X-Forwarded-User", user)
			r.Header.Set("X-Forwarded-Groups", group)
		}
	}
	for _, c := range []struct {
		user, group string
		services    int
	}{{"root", "", 2}, {"ann", "bank", 1}, {"bob", "shop", 0}, {"ann", "bank", 1}} {
		_, rows := answerTo[topRow](t, s, "/services.json?by=service&last=7d", as(c.user, c.group))
		if len(rows) != c.services || len(rows) == 1 && rows[0].Service != fleettest.Service(0) {
			t.Errorf("%s of %s: %+v", c.user, c.group, rows)
		}
	}
	if w := ask(s, "GET", "/services.json", as("eve", "")); w.Code != 403 {
		t.Errorf("eve: %d", w.Code)
	}
}

// A question is answered once for all who ask it within a minute, two at a time, and is given up when nobody waits.
func TestAnswers(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAnswers()
	clock := func() time.Time { return now }
	var mu sync.Mutex
	asked, open, most := 0, 0, 0
	slow := func(ctx context.Context) ([]byte, error) {
		mu.Lock()
		asked++
		open++
		most = max(most, open)
		mu.Unlock()
		defer func() { mu.Lock(); open--; mu.Unlock() }()
		select {
		case <-time.After(20 * time.Millisecond):
			return []byte("x"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var group sync.WaitGroup
	for _, key := range []string{"a", "a", "b", "b", "c", "d"} {
		group.Go(func() {
			if b, err := a.get(t.Context(), key, clock, slow); string(b) != "x" || err != nil {
				t.Errorf("%s: %q %v", key, b, err)
			}
		})
	}
	group.Wait()
	if asked != 4 || most > questionsAtOnce {
		t.Errorf("%d questions, %d at once", asked, most)
	}
	now = now.Add(answerKept)
	if _, err := a.get(t.Context(), "a", clock, slow); err != nil || asked != 5 {
		t.Errorf("an old answer: %v, %d questions", err, asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := a.get(ctx, "z", clock, func(ctx context.Context) ([]byte, error) {
			cancel()
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		ended <- err
	}()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("a question that nobody waits for goes on")
		}
	}
	for i := range 3 * mostAnswers {
		if _, err := a.get(t.Context(), string(rune('A'+i)), clock, func(context.Context) ([]byte, error) { return make([]byte, mostAnswerBytes/16), nil }); err != nil {
			t.Fatal(err)
		}
	}
	if a.bytes > mostAnswerBytes || len(a.list) > mostAnswers {
		t.Errorf("%d answers of %d bytes are kept", len(a.list), a.bytes)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/shadow/show/web"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
)

// safeBuffer can be read while the command writes.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startServe runs shadow serve until the test ends it.
func startServe(t *testing.T, dir string, flags ...string) (busURL, pageURL string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var errs safeBuffer
	env := console.Env{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Environ: os.Environ(), Executable: os.Executable, Now: time.Now}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", dir}, flags...), env)
	}()
	t.Cleanup(cancel)
	says := regexp.MustCompile(`bus (nats://\S+), page (http://\S+), store`)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m := says.FindStringSubmatch(errs.String()); m != nil {
			return m[1], m[2], func() (int, string) {
				cancel()
				return <-ended, errs.String()
			}
		}
	}
	t.Fatalf("serve does not start: %s", errs.String())
	return "", "", nil
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("%s: %s %v %s", url, r.Status, err, b)
	}
	return string(b)
}

// With a policy the bus's token opens nothing on the page: every JVM's user may know it.
func TestServeAccess(t *testing.T) {
	folder := t.TempDir()
	dir, file, password := filepath.Join(folder, "store"), filepath.Join(folder, "access.yaml"), filepath.Join(folder, "page")
	policy := "proxy: {header: X-User, from: [127.0.0.1]}\nrules:\n  - {users: [ann], services: [shop], role: viewer}\n"
	for name, content := range map[string]string{file: policy, password: "page-page-page-page\n"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, pageURL, stop := startServe(t, dir, "--access", file, "--page-token-file", password)
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	status := func(user, secret string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", pageURL+"sessions.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set("X-User", user); secret != "" {
			r.SetBasicAuth("x", secret)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		return w.StatusCode
	}
	for _, c := range []struct {
		user, secret string
		want         int
	}{{"ann", "", 200}, {"bob", "", 403}, {"", "", 401}, {"", strings.TrimSpace(string(token)), 401}, {"", "page-page-page-page", 200}} {
		if got := status(c.user, c.secret); got != c.want {
			t.Errorf("%q with %.4q: %d, want %d", c.user, c.secret, got, c.want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, audit.Name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the audit log: %v", err)
	}
	stop()
	if err := os.WriteFile(file, []byte(policy+"typo: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := shadow(t, nil, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", dir, "--access", file); code == 0 || !strings.Contains(errs, "typo") {
		t.Errorf("a wrong file: %d %s", code, errs)
	}
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	busURL, pageURL, stop := startServe(t, dir)
	if page := get(t, pageURL); !strings.Contains(page, `data-page="fleet"`) {
		t.Errorf("the page: %s", page)
	}
	if list := get(t, pageURL+"sessions.json"); strings.TrimSpace(list) != "[]" {
		t.Errorf("sessions of an empty store: %s", list)
	}
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, serve.TokenName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info.Mode(), err)
	}
	if err := send(busURL, "wrong-token-wrong-token", "h", true); err == nil {
		t.Error("the bus takes a wrong token")
	}
	if err := send(busURL, string(token), "h", true); err != nil {
		t.Fatal(err)
	}
	var rows []web.Row
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := json.Unmarshal([]byte(get(t, pageURL+"sessions.json")), &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) == 1 && rows[0].State == store.EndedExit {
			break
		}
	}
	if len(rows) != 1 || rows[0].Executions != 3 || rows[0].Program != "com.acme.Fake" || rows[0].State != store.EndedExit {
		t.Fatalf("sessions: %+v", rows)
	}
	// A second shadow is kept out of the store.
	if code, _, errs := shadow(t, nil, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", dir); code != 1 || !strings.Contains(errs, "in use by another shadow") {
		t.Errorf("second shadow: exit code %d: %s", code, errs)
	}
	code, errs := stop()
	if code != 0 || !strings.Contains(errs, "ended; sessions are in") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, out, errs := shadow(t, nil, "stats", rows[0].Folder, "--format", "json"); code != 0 || !strings.Contains(out, `"executions": 3`) {
		t.Errorf("stats of the stored session: %d, %s%s", code, out, errs)
	}
	// When the shadow starts again, the token is the same, and the session is still there.
	_, pageURL, stop = startServe(t, dir)
	if list := get(t, pageURL+"sessions.json"); !strings.Contains(list, `"executions": 3`) || !strings.Contains(list, "com.acme.Fake") {
		t.Errorf("sessions after a restart: %s", list)
	}
	stop()
	if again, err := os.ReadFile(filepath.Join(dir, serve.TokenName)); err != nil || string(again) != string(token) {
		t.Errorf("token changed: %v", err)
	}
}

package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/cmd/shadow/internal/serve"
	"stackagent/internal/busauth"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ownership"
)

func secretIn(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A store of an earlier version has a token. JVMs that run get in with it; new ones with the seed of an NKEY.
func TestOldToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	old := strings.Repeat("0123456789abcdef", 3)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, serve.TokenName), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	busURL, _, stop := startServe(t, dir)
	seed := secretIn(t, dir, serve.TokenName)
	if !busauth.IsSeed(seed) || secretIn(t, dir, serve.OldTokenName) != old {
		t.Errorf("the token file holds %.4q..., the old token is %q", seed, secretIn(t, dir, serve.OldTokenName))
	}
	for _, secret := range []string{old, seed} {
		if err := send(busURL, secret, "h", true); err != nil {
			t.Errorf("with %.4q...: %v", secret, err)
		}
	}
	if _, errs := stop(); !strings.Contains(errs, "JVMs can still connect with") || strings.Contains(errs, old) || strings.Contains(errs, seed) {
		t.Errorf("said: %s", errs)
	}
}

// With the key of the agents nobody joins as a shadow; with that of the shadows one does. What it writes into
// their table that is no row of a shadow makes the shadow say so, and the page ill.
func TestShadowKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	busURL, page, stop := startServe(t, dir)
	joined := func(name string) (*bus.Bus, error) {
		return bus.Join(bus.JoinOptions{URL: busURL, Auth: busauth.Auth{NKeyFile: filepath.Join(dir, name)}})
	}
	if b, err := joined(serve.TokenName); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("with the key of an agent: %v, %v", b, err)
	}
	b, err := joined(serve.ShadowKeyName)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if get(t, page+"healthz") != "ok\n" {
		t.Error("ill at the start")
	}
	table, err := b.JetStream().KeyValue(t.Context(), ownership.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.PutString(t.Context(), "session.x", `{"stream":"STACKAGENT","seq":1}`); err != nil {
		t.Fatal(err)
	}
	ill := false
	for end := time.Now().Add(time.Minute); !ill && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(page + "healthz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		ill = r.StatusCode == http.StatusServiceUnavailable
	}
	if !ill || !strings.Contains(get(t, page+"metrics"), "stackagent_foreign_rows_total 1") {
		t.Errorf("ill: %v; %s", ill, get(t, page+"metrics"))
	}
	if code, errs := stop(); code != 0 || !strings.Contains(errs, "1 row is ignored in the shadows' table") {
		t.Errorf("exit code %d, said: %s", code, errs)
	}
}

// A seed that is chosen as the bus's secret is not the page's password: it must not travel.
func TestChosenSeed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	seed, err := busauth.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(seed+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	busURL, page, stop := startServe(t, dir, "--token-file", file)
	defer stop()
	if err := send(busURL, seed, "h", true); err != nil {
		t.Error(err)
	}
	for password, want := range map[string]int{"": 401, seed: 401, secretIn(t, dir, serve.PageTokenName): 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("", password)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with %.4q...: %d, want %d", password, answer.StatusCode, want)
		}
	}
}

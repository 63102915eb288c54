package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/fleet/fleettest"
)

// manyStoreVerbs are the commands that read many sessions, in an order in which they can follow one another. EACH is the
// sessions' folders, STORE the folder that they are in, FLEET one of roll-ups.
var manyStoreVerbs = []string{
	"sessions ls STORE", "sessions ls STORE --service service-0* --format json", "sessions ls EACH --format csv",
	"fleet add FLEET EACH", "fleet top FLEET", "fleet top FLEET --by instance", "fleet versions FLEET --service service-01", "fleet findings FLEET", "fleet outliers FLEET", "fleet trends FLEET",
	"fleet compact FLEET", "fleet top FLEET --by instance", "mcp",
	"sessions rm --older-than 1h --yes --audit AUDIT STORE/a", "sessions rm --yes --audit AUDIT EACH",
}

// TestVeryManySessions: with ten times the sessions, a command on all of them takes about ten times the processor time.
func TestVeryManySessions(t *testing.T) {
	n := 100
	if os.Getenv("STACKAGENT_TORTURE") == "full" {
		n = 2_000
	}
	least, most := make([]time.Duration, len(manyStoreVerbs)), make([]time.Duration, len(manyStoreVerbs))
	for round := 0; round < 3; round++ { // more than one only where something else took time meanwhile, each with new stores: commands change them
		few, many, tooMuch := storeOf(t, n/10), storeOf(t, n), false
		for i, verb := range manyStoreVerbs {
			least[i] = max(least[i], few(verb))
			if took := many(verb); round == 0 || took < most[i] {
				most[i] = took
			}
			tooMuch = tooMuch || most[i] > mostGrowth*least[i]
		}
		if !tooMuch {
			break
		}
	}
	for i, verb := range manyStoreVerbs {
		grew(t, verb, n, "sessions", least[i], most[i])
	}
}

// storeOf makes a store of n sessions, an eighth of them in a folder a, and returns what takes the processor time of commands on it.
func storeOf(t *testing.T, n int) func(verb string) time.Duration {
	t.Helper()
	root := t.TempDir()
	f := fleettest.Fleet{Sessions: n, Services: 2, Instances: 8, Days: 3, Executions: 100, From: time.Now().Add(-4 * 24 * time.Hour), Seed: 4}
	var each []string
	store := filepath.Join(root, "store")
	for i := range n {
		to := store
		if i%8 == 0 {
			to = filepath.Join(store, "a")
		}
		s, err := f.Make(to, i)
		if err != nil {
			t.Fatal(err)
		}
		if to == store {
			each = append(each, s.Dir)
		}
	}
	fleet := filepath.Join(root, "fleet")
	if err := os.Mkdir(fleet, 0o700); err != nil {
		t.Fatal(err)
	}
	return func(verb string) time.Duration {
		if verb == "mcp" {
			c := mcpClient(t, store)
			before := cpuUsed(t)
			if _, text, failed := askTool(t, c, "sessions", nil); failed {
				t.Errorf("mcp: %s", text)
			}
			return cpuUsed(t) - before
		}
		var words []string
		for word := range strings.FieldsSeq(verb) {
			if word == "EACH" {
				words = append(words, each...)
				continue
			}
			words = append(words, strings.NewReplacer("STORE", store, "FLEET", fleet, "AUDIT", filepath.Join(root, "audit.jsonl")).Replace(word))
		}
		var out, errs bytes.Buffer
		env := console.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: os.Environ(), Now: time.Now}
		before := cpuUsed(t)
		if code := Run(context.Background(), words, env); code != 0 {
			t.Errorf("%s: exit code %d: %.500s", verb, code, errs.String())
		}
		return cpuUsed(t) - before
	}
}

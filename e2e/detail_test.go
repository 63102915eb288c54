package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// balance is what a session's manifest says of the account by thread.
type balance struct {
	Detail     string
	Summarised struct{ Executions, Creations uint64 }
	Stored     struct{ Executions, Creations uint64 }
	Balance    struct {
		State, Why string
		Uncounted  uint64
	}
}

func balanceOf(t *testing.T, p testjvm.Profile) balance {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b balance
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// However much is counted instead of recorded, the counts are the oracle's, and
// every thread's own account is settled.
func TestDetail(t *testing.T) {
	testjvm.Shared(t)
	examples := []string{"forkjoin", "pool", "nested", "throwing", "ctors", "cloned", "reused", "never", "virtual", "exit"}
	jdks := testjvm.JDKs(t)
	for i, jdk := range jdks {
		for j, detail := range []string{"auto", "summary"} {
			for k, name := range examples {
				o := testjvm.Example(t, name)
				// Outside the full matrix each example is run once: JDKs and details take turns.
				if jdk.Version < o.MinJDK || !full() && ((j+k)%2 != 0 || i != k/2%len(jdks) && o.MinJDK <= jdks[0].Version) {
					continue
				}
				t.Run(strings.Join([]string{jdk.String(), detail, name}, "/"), func(t *testing.T) {
					testjvm.Shared(t)
					checkDetail(t, o, jdk, detail)
				})
			}
		}
	}
}

func checkDetail(t *testing.T, o testjvm.Oracle, jdk testjvm.JDK, detail string) {
	cmd := o.Command(t, jdk)
	plain := cmd.Plain(t)
	cmd.Agent = append(slices.Clip(cmd.Agent), "--detail", detail)
	p := cmd.Session(t)
	sameBehaviour(t, o, plain, p.Result)
	for _, wrong := range o.Compare(p.Hotspots(t), nil) {
		t.Error(wrong)
	}
	b := balanceOf(t, p)
	if b.Balance.State != "exact" || b.Balance.Uncounted != 0 {
		t.Errorf("the account by thread: %+v", b.Balance)
	}
	if b.Detail != detail {
		t.Errorf("the session says detail %q", b.Detail)
	}
	if detail != "summary" {
		return
	}
	if b.Summarised.Creations != b.Stored.Creations {
		t.Errorf("%d creations, of which %d summarised: want all", b.Stored.Creations, b.Summarised.Creations)
	}
	// On a busy machine each of a few executions may be an outlier, of which up to a hundred are recorded.
	if b.Summarised.Executions == 0 && b.Stored.Executions > 100 {
		t.Error("no execution was summarised")
	}
}

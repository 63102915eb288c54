package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// The scheduler of virtual threads: how often each got onto a carrier, and how
// long some stayed there parked, follows from the program.
func TestVirtualScheduling(t *testing.T) {
	o := testjvm.Example(t, "pinned")
	const mounts, pins, eachPin = 1000 + 10*2 + 3, 3, 30 * time.Millisecond
	for _, jdk := range testjvm.JDKs(t) {
		if jdk.Version < o.MinJDK {
			continue
		}
		t.Run(jdk.String(), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				p := o.Command(t, jdk).Profile(t)
				b, err := os.ReadFile(filepath.Join(p.Dir, "manifest.json"))
				if err != nil {
					t.Fatal(err)
				}
				var m struct {
					S struct {
						Mounts, Unmounts, Pins uint64
						PinnedNs               int64 `json:"pinned_ns"`
					} `json:"virtual_scheduling"`
				}
				if err := json.Unmarshal(b, &m); err != nil {
					t.Fatal(err)
				}
				if m.S.Mounts != mounts || m.S.Unmounts != mounts || m.S.Pins != pins {
					t.Errorf("%+v, want %d mounts and unmounts, %d pins", m.S, mounts, pins)
				}
				// Who has slept enough may have to wait for a CPU.
				if d := time.Duration(m.S.PinnedNs); d < pins*eachPin || d > pins*eachPin+200*time.Millisecond {
					a.Errorf("pinned for %v, want a little more than %v", d, pins*eachPin)
				}
			})
		})
	}
}

// The carriers of virtual threads are told as such, by the names that the JDK
// gives them; where the scheduler can be seen they, not the virtual threads,
// have the time on the CPUs.
func TestCarriers(t *testing.T) {
	o := testjvm.Example(t, "pinned")
	for _, jdk := range testjvm.JDKs(t) {
		if jdk.Version < o.MinJDK {
			continue
		}
		t.Run(jdk.String(), func(t *testing.T) {
			p := o.Command(t, jdk, "-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2").Profile(t)
			var rows []struct {
				Thread, Role string
				Virtual      bool
				Times        *struct {
					RunningNs int64 `json:"running_ns"`
				}
			}
			if err := json.Unmarshal(p.Shadow(t, "threads", p.Dir, "--format", "json"), &rows); err != nil {
				t.Fatal(err)
			}
			_, recorded := bottleOf(t, p)
			carriers := 0
			for _, r := range rows {
				if named := strings.HasPrefix(r.Thread, "ForkJoinPool-1-worker-"); named != (r.Role == "carrier") {
					t.Errorf("%s has the role %q", r.Thread, r.Role)
				}
				if r.Virtual && r.Times != nil {
					t.Errorf("%s is virtual and has times of its own: %+v", r.Thread, *r.Times)
				}
				if r.Role != "carrier" {
					continue
				}
				carriers++
				if recorded && (r.Times == nil || r.Times.RunningNs <= 0) {
					t.Errorf("%s carried threads and was never running: %+v", r.Thread, r.Times)
				}
			}
			if carriers < 1 || carriers > 2 {
				t.Errorf("%d carriers of at most 2: %+v", carriers, rows)
			}
		})
	}
}

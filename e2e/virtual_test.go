package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
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
			if d := time.Duration(m.S.PinnedNs); d < pins*eachPin || d > pins*eachPin+time.Second {
				t.Errorf("pinned for %v, want a little more than %v", d, pins*eachPin)
			}
		})
	}
}

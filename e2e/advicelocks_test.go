package e2e_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// TestAdviceLock: a lock for which requests wait is named, with the time that the program itself measured.
func TestAdviceLock(t *testing.T) {
	testjvm.Alone(t, "what is found depends on the processors it gets")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			c := testjvm.Example(t, "advice").Command(t, jdk)
			c.Args, c.VM = []string{"contended-lock"}, append(c.VM, noDelay...)
			p := c.Session(t)
			_, text, found := strings.Cut(p.Stderr, "waited_ns=")
			measured, err := strconv.ParseFloat(strings.Fields(text + " ?")[0], 64)
			if !found || err != nil {
				t.Fatalf("the program said %q", p.Stderr)
			}
			var stats struct {
				Findings []struct {
					Rule     string
					Evidence struct {
						Contended struct {
							Kind, Lock, Site string
							Waited           float64 `json:"waited_ns"`
						}
					}
				}
			}
			if err := json.Unmarshal(p.Shadow(t, "stats", p.Dir, "--units", "--format", "json"), &stats); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, f := range stats.Findings {
				if f.Rule != "contended-lock" {
					continue
				}
				n++
				l := f.Evidence.Contended
				if l.Kind != "semaphore" || l.Lock != "Semaphore" || !strings.HasPrefix(l.Site, "Main.") || math.Abs(l.Waited/measured-1) > 0.05 {
					t.Errorf("%+v, the program waited %v", l, measured)
				}
			}
			if n != 1 {
				t.Errorf("%d findings", n)
			}
		})
	}
}

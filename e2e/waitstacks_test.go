package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

// TestStacksOfLongWaits: each long wait has its place, a few have their whole stack, and these stand for the others in the shares in which the
// program takes its paths.
func TestStacksOfLongWaits(t *testing.T) {
	testjvm.Shared(t)
	const waits = 4000
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			p := waitsCommand(t, jdk, "Paths", strconv.Itoa(waits)).Session(t)
			own, err := strconv.Atoi(strings.TrimSpace(p.Stdout))
			if err != nil || own < waits {
				t.Fatalf("the program printed %q: %v\n%s", p.Stdout, err, p.Stderr)
			}
			s, err := session.Open(p.Dir)
			if err != nil {
				t.Fatal(err)
			}
			stacks, err := s.WaitContexts()
			if err != nil {
				t.Fatal(err)
			}
			whole, long := 0, 0
			var waited units.Ns
			for _, w := range parkWaits(t, p.Dir)["napper"] {
				if w.blocker.Class != "java.lang.Class" || w.EndNs-w.StartNs < 1e6 {
					continue
				}
				long++
				waited += units.Ns(w.EndNs - w.StartNs)
				if w.site == nil || w.site.Method != "nap" || stacks[w.Context].Frames == nil {
					t.Errorf("at %+v, context %d", w.site, w.Context)
				}
				if !stacks[w.Context].Near {
					whole++
				}
			}
			if long < waits*9/10 || whole < long/24 || whole > long/10 {
				t.Errorf("of %d long waits %d have a whole stack; the program waited %d times", long, whole, own)
			}
			a, err := wait.Analyse(s)
			if err != nil {
				t.Fatal(err)
			}
			by := map[string]units.Ns{}
			for _, x := range a.Stacks() {
				i := slices.IndexFunc(x.Frames, func(f *session.Site) bool { return f != nil && f.Class == "Paths" && f.Method != "nap" })
				if x.Class == "class Paths" && len(x.Frames) > 2 && i >= 0 {
					by[x.Frames[i].Method] += x.WaitedNs
				}
			}
			// Of 250 whole stacks a quarter is 62, give or take 7.
			if share := float64(by["seldom"]) / float64(waited); share < 0.25-0.14 || share > 0.25+0.14 || len(by) != 2 || by["seldom"]+by["often"] < waited*99/100 {
				t.Errorf("%v of %v in all", by, waited)
			}
		})
	}
}

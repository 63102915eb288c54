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
			var why struct {
				Obstacles []struct{ Kind, Title string }
				Classes   []struct {
					Parts []struct {
						What string
						Ns   float64
					}
				}
			}
			if err := json.Unmarshal(p.Shadow(t, "why", p.Dir, "--format", "json"), &why); err != nil {
				t.Fatal(err)
			}
			const waits = "waits for a permit of a Semaphore at Main."
			if len(why.Obstacles) == 0 || why.Obstacles[0].Kind != "held" || !strings.Contains(why.Obstacles[0].Title, waits) || !strings.Contains(why.Obstacles[0].Title, "which sleeps at Main.") {
				t.Errorf("%+v", why.Obstacles)
			}
			waited := 0.0
			for _, c := range why.Classes {
				for _, x := range c.Parts {
					if strings.HasPrefix(x.What, waits) {
						waited += x.Ns
					}
				}
			}
			if math.Abs(waited/measured-1) > 0.05 {
				t.Errorf("by the account %v ns, by the program %v", waited, measured)
			}
		})
	}
}

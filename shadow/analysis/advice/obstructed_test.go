package advice

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// accounted answers with an account of time.
type accounted struct {
	replayer
	account *account.Session
	err     error
}

func (a accounted) Account() (*account.Session, error) { return a.account, a.err }

// TestObstacles: an obstacle of the account is advice of its kind, with what a replay says of it; one that a rule of its own is about is left to that.
func TestObstacles(t *testing.T) {
	small := busyPool(1, 1000*milli, 100)
	few := account.Obstacle{Kind: account.FewWorkers, Title: "p has too few workers", Happened: "It computes.", Remedy: "More.", Victim: "app.Job", Executor: small.Label, Score: 0.5,
		Gain: &account.Gain{Change: "with 2 workers", LengthNs: 600 * milli, SavedShare: 0.4, ResponseNs: 10, RecordedNs: 20}}
	stopped := account.Obstacle{Kind: account.Collection, Title: "stopped", Score: 0.9}
	unknown := account.Obstacle{Kind: account.Held, Title: "app.Job waits for a lock", Victim: "app.Job", Score: 0.7, CannotTell: "threads are missing"}
	bound := account.Bound{Class: "app.Job", What: "both CPUs compute", Share: 0.9, Known: true}
	for _, c := range []struct {
		name    string
		with    accounted
		want    string
		caution string
	}{
		{"one", accounted{account: &account.Session{Obstacles: []account.Obstacle{stopped, few}, Bound: bound}}, "few-workers", ""},
		{"the larger first", accounted{account: &account.Session{Obstacles: []account.Obstacle{few, unknown}, Bound: bound}}, "held few-workers", ""},
		{"none", accounted{account: &account.Session{Bound: bound}}, "", ""},
		{"not known", accounted{err: errors.New("too many steps")}, "", "What the time depends on is not known: too many steps."},
	} {
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Replayer: c.with, Units: &UnitFacts{Read: true, Duration: 1000 * milli, CPUs: 2, Pools: []Pool{small}}}
		all := Find(f)
		found := slices.DeleteFunc(slices.Clone(all), func(x Finding) bool { return x.Kind != Advice })
		if names(found) != c.want {
			t.Errorf("%s: %q, want %q", c.name, names(found), c.want)
		}
		said := ""
		for i := range all {
			switch e := all[i].Evidence.(type) {
			case *NoAccount:
				said = all[i].Text
			case *Bound:
				if all[i].Kind != Fact || e.Text() != "90 % of the time of app.Job depends on this: both CPUs compute." {
					t.Errorf("%s: %s", c.name, e.Text())
				}
			}
		}
		if said != c.caution {
			t.Errorf("%s: caution %q, want %q", c.name, said, c.caution)
		}
		for i := range found {
			x := &found[i]
			switch x.Rule {
			case "few-workers":
				if x.Gain == nil || x.Gain.Ns != 400*milli || x.Predicted.Ns != 600*milli || !strings.HasPrefix(x.Text, "p has too few workers. It computes. More. Predicted with 2 workers: the run takes 600 ms (40 % less)") || x.Happened != "It computes." {
					t.Errorf("%s: %+v: %s", c.name, x.Gain, x.Text)
				}
			case "held":
				if x.Gain != nil || x.Predicted.Why != "threads are missing" || x.rank() != units.Ns(700*milli) || !strings.HasSuffix(x.Text, "Cannot tell what it saves: threads are missing.") {
					t.Errorf("%s: %+v: %s", c.name, x.Predicted, x.Text)
				}
			}
		}
	}
}

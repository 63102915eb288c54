package advice

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// checkGain checks what a finding says in JSON that it saves of a session; 0: nothing is said.
func checkGain(t *testing.T, name string, x *Finding, gain, session units.Ns) {
	t.Helper()
	var got struct {
		Predicted Predicted
		Gain      *Gain
	}
	if b, err := json.Marshal(x); err != nil || json.Unmarshal(b, &got) != nil || got.Predicted != *x.Predicted ||
		(got.Gain != nil) != (gain != 0) || gain != 0 && (got.Gain.Ns != gain || got.Gain.Share != float64(gain)/float64(session)) {
		t.Errorf("%s: %s, %v; want the gain %v", name, b, err, gain)
	}
}

// TestReplayer: what advice about the whole session saves is what its replay says.
func TestReplayer(t *testing.T) {
	for _, c := range []struct {
		name string
		with Replayer
		gain units.Ns
		says string // "": there is no advice
	}{
		{"none", nil, 0, "Cannot tell what it saves: the session was not replayed."},
		{"cannot", replayer{err: errors.New("threads are missing")}, 0, "Cannot tell what it saves: threads are missing."},
		{"saves", replayer{takes: 800 * milli}, 200 * milli, "Predicted: 800 ms instead of 1.00 s (20 % less), if nothing needs these collections."},
		{"saves nothing", replayer{takes: 990 * milli}, 0, ""},
	} {
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Replayer: c.with, Units: &UnitFacts{Duration: 1000 * milli, CPUs: 2,
			Collections: &Collections{Stopped: 300 * milli, Explicit: 20, ExplicitTime: 300 * milli}}}
		f.GC.Total = 300 * milli
		found := slices.DeleteFunc(Find(f), func(x Finding) bool { return x.Kind != Advice })
		if c.says == "" {
			if len(found) != 0 {
				t.Errorf("%s: %s", c.name, found[0].Text)
			}
			continue
		}
		if names(found) != "explicit-collections" || !strings.HasSuffix(found[0].Text, c.says) {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		checkGain(t, c.name, &found[0], c.gain, 1000*milli)
	}
}

// TestPinsReplayed: pins that a replay shows to cost nothing are no advice.
func TestPinsReplayed(t *testing.T) {
	for takes, want := range map[units.Ns]string{500 * milli: "pinned-threads", 990 * milli: ""} {
		f := &Facts{Duration: 1000 * milli, CPUs: 2, Replayer: unpinned(takes), Units: &UnitFacts{Read: true, Duration: 1000 * milli, CPUs: 2, Virtual: pinning()}}
		if found := slices.DeleteFunc(Find(f), func(x Finding) bool { return x.Kind != Advice }); names(found) != want {
			t.Errorf("%v: %s, want %s", takes, names(found), want)
		}
	}
}

// unpinned is how long a session takes without pins.
type unpinned units.Ns

func (unpinned) WithoutCollections(reason string) (units.Ns, error) {
	return 0, errors.New("asked for " + reason)
}
func (n unpinned) Unpinned() (units.Ns, error)      { return units.Ns(n), nil }
func (unpinned) Account() (*account.Session, error) { return &account.Session{}, nil }

// replayer answers one question.
type replayer struct {
	takes units.Ns
	err   error
}

func (r replayer) WithoutCollections(reason string) (units.Ns, error) {
	if reason != "System.gc()" {
		return 0, errors.New("asked for " + reason)
	}
	return r.takes, r.err
}

func (replayer) Unpinned() (units.Ns, error) { return 0, errors.New("asked for pins") }

func (r replayer) Account() (*account.Session, error) { return &account.Session{}, r.err }

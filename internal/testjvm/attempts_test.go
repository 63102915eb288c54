package testjvm

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// recorder is a test that keeps what is reported to it.
type recorder struct {
	testing.TB
	text   string
	failed bool
}

func (s *recorder) Helper()                      {}
func (s *recorder) Logf(f string, args ...any)   { s.text += "log " + fmt.Sprintf(f, args...) }
func (s *recorder) Errorf(f string, args ...any) { s.text += fmt.Sprintf(f, args...); s.failed = true }
func (s *recorder) Failed() bool                 { return s.failed }

func TestOneGood(t *testing.T) {
	for name, c := range map[string]struct {
		good, hard   int // attempt that is good, attempt in which the test itself fails; 0: none
		made         int
		failed       bool
		says, silent string
	}{
		"at once": {1, 0, 1, false, "", "attempt"},
		"third":   {3, 0, 3, false, "log attempt 2 of 3: 2 is wrong", "attempt 3"},
		"never":   {0, 0, attempts, true, "no attempt was good\nattempt 1 of 3: 1 is wrong\nattempt 2", "log"},
		"hard":    {0, 2, 2, true, "for sure", "attempt 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s, made, rested := &recorder{TB: t}, 0, time.Duration(0)
			oneGood(s, func(a *Attempt) {
				made++
				if made != c.good {
					a.Errorf("%d is wrong", made)
				}
				if made == c.hard {
					s.Errorf("for sure")
				}
			}, func(d time.Duration) { rested += d })
			if made != c.made || s.failed != c.failed || !strings.Contains(s.text, c.says) || strings.Contains(s.text, c.silent) {
				t.Errorf("%d attempts, failed %v: %q", made, s.failed, s.text)
			}
			if want := time.Duration(made*(made-1)/2) * time.Second; rested != want {
				t.Errorf("rested for %v, want %v", rested, want)
			}
		})
	}
}

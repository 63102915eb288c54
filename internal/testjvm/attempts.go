package testjvm

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Checker takes what a check finds wrong: a test, or one attempt of it.
type Checker interface {
	Helper()
	Errorf(format string, args ...any)
}

// Attempt is one of several measurements of the same thing. Errors that may be noise
// of the machine are reported to it, all others to the test itself.
type Attempt struct {
	// Scale is 1, 4, 16. A test multiplies the time limits that it sets itself by it, such as the TTL of a lease, so
	// that a later attempt passes on a machine that is busy all the time.
	Scale time.Duration

	t     testing.TB
	wrong []string
}

// Helper is for Checker.
func (a *Attempt) Helper() { a.t.Helper() }

// Errorf marks the attempt as spoilt.
func (a *Attempt) Errorf(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// attempts is how many measurements of a thing there are at most.
const attempts = 3

// OneGood measures until nothing is wrong with an attempt, up to three times, and
// fails if something always was. A hypervisor, an interrupt or another program
// spoils one attempt and not each; a defect spoils each, so that the bounds of
// an attempt can be tight.
func OneGood(t testing.TB, measure func(a *Attempt)) {
	t.Helper()
	oneGood(t, measure, time.Sleep)
}

func oneGood(t testing.TB, measure func(a *Attempt), rest func(time.Duration)) {
	t.Helper()
	var all []string
	for n := 1; n <= attempts; n++ {
		a := &Attempt{t: t, Scale: 1 << (2 * (n - 1))}
		measure(a)
		if len(a.wrong) == 0 || t.Failed() {
			for _, spoilt := range all {
				t.Logf("%s", spoilt)
			}
			return
		}
		all = append(all, fmt.Sprintf("attempt %d of %d: %s", n, attempts, strings.Join(a.wrong, "\n    ")))
		Counted("attempt")
		opened.forget(t) // else the next attempt would look at the same session
		if n < attempts {
			rest(time.Duration(n) * time.Second) // noise comes in bursts
		}
	}
	t.Errorf("no attempt was good\n%s", strings.Join(all, "\n"))
}

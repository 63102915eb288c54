package console

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// ended is how a process would have ended.
type ended struct {
	code int
	sig  syscall.Signal
}

// caughtSignals are those of a process that does not end but says how it would.
func caughtSignals(t *testing.T) (context.Context, *Signals, chan ended) {
	t.Helper()
	ends := make(chan ended, 8)
	ctx, s := newSignals(t.Context(), func(code int, sig syscall.Signal) { ends <- ended{code, sig} })
	return ctx, s, ends
}

// want waits for the end of the process.
func want(t *testing.T, ends chan ended, e ended) {
	t.Helper()
	select {
	case got := <-ends:
		if got != e {
			t.Errorf("ended with %+v, want %+v", got, e)
		}
	case <-time.After(time.Minute):
		t.Error("it has not ended")
	}
}

// armed reports whether the process is about to end.
func (s *Signals) armed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timer != nil
}

// A verb that looks at nothing ends by the signal, and says its last words even if nobody reads them.
func TestSignalEndsWork(t *testing.T) {
	ctx, s, ends := caughtSignals(t)
	discarded := make(chan bool, 1)
	s.Discard(func() { discarded <- true })
	s.Last(ByTheSignal, func() { select {} })
	s.catch(syscall.SIGINT, time.Now())
	if ctx.Err() == nil {
		t.Error("the verb's context lives on")
	}
	want(t, ends, ended{ByTheSignal, syscall.SIGINT})
	if len(discarded) == 0 {
		t.Error("unfinished files stay")
	}
}

// What a verb keeps is finished after the first signal, even if that is sent several times at once, and not after a second one.
func TestSignalHeld(t *testing.T) {
	ctx, s, ends := caughtSignals(t)
	release := s.Hold(0)
	finish, cancel := s.Finish(ctx, time.Hour)
	defer cancel()
	now := time.Now()
	s.catch(syscall.SIGTERM, now)
	s.catch(syscall.SIGTERM, now.Add(sameRequest/2)) // timeout(1) sends it to the group, too
	if finish.Err() != nil || s.armed() || ctx.Err() == nil || s.Caught() != syscall.SIGTERM || !s.Held() {
		t.Errorf("finishing: %v, armed: %v, the verb: %v, caught %v", finish.Err(), s.armed(), ctx.Err(), s.Caught())
	}
	s.catch(syscall.SIGINT, now.Add(2*sameRequest))
	<-finish.Done()
	want(t, ends, ended{ByTheSignal, syscall.SIGINT})
	release()
}

// When what is kept is whole, the rest has a moment; the code is then that of a recording that was ended on purpose.
func TestSignalAfterHold(t *testing.T) {
	_, s, ends := caughtSignals(t)
	outer, inner := s.Hold(time.Hour), s.Hold(0)
	s.catch(syscall.SIGTERM, time.Now())
	s.Last(0, nil)
	inner()
	inner()
	outer()
	want(t, ends, ended{0, syscall.SIGTERM})
}

// What hangs while it is finished is given up.
func TestSignalHoldLimit(t *testing.T) {
	ctx, s, ends := caughtSignals(t)
	defer s.Hold(time.Hour)()
	defer s.Hold(time.Millisecond)()
	finish, cancel := s.Finish(ctx, time.Millisecond)
	defer cancel()
	s.catch(syscall.SIGTERM, time.Now())
	<-finish.Done()
	want(t, ends, ended{ByTheSignal, syscall.SIGTERM})
}

// The signals of a command are the command's. One that ended it was for the shadow, too; the next ends the shadow at once.
func TestSignalPassed(t *testing.T) {
	for _, c := range []struct {
		sig    syscall.Signal
		code   int
		caught syscall.Signal
	}{{syscall.SIGTERM, 0, syscall.SIGTERM}, {syscall.SIGINT, 130, syscall.SIGINT}, {syscall.SIGINT, 0, 0}} {
		ctx, s, ends := caughtSignals(t)
		release := s.Hold(0)
		back := s.Pass()
		now := time.Now()
		s.catch(c.sig, now)
		s.catch(c.sig, now.Add(2*sameRequest))
		if ctx.Err() != nil || s.armed() {
			t.Errorf("%+v: it ended the shadow", c)
		}
		back(c.code)
		finish, cancel := s.Finish(ctx, time.Hour)
		if s.Caught() != c.caught || finish.Err() != nil {
			t.Errorf("%+v: caught %v, finishing: %v", c, s.Caught(), finish.Err())
		}
		s.catch(syscall.SIGTERM, now.Add(4*sameRequest))
		<-finish.Done()
		want(t, ends, ended{ByTheSignal, syscall.SIGTERM})
		cancel()
		release()
	}
}

// Exit codes of a verb: its own, or that of a command that did not catch the signal.
func TestSignalExit(t *testing.T) {
	_, s, ends := caughtSignals(t)
	s.Exit(143)
	want(t, ends, ended{143, 0})
	defer s.Hold(0)()
	s.catch(syscall.SIGTERM, time.Now())
	s.Exit(143)
	want(t, ends, ended{ByTheSignal, syscall.SIGTERM})
	s.Exit(0)
	want(t, ends, ended{0, 0})
}

// Without signals everything can be called.
func TestNoSignals(t *testing.T) {
	var s *Signals
	s.Hold(time.Second)()
	s.Pass()(0)
	s.Last(0, nil)
	ctx, cancel := s.Finish(t.Context(), time.Second)
	if cancel(); ctx.Err() == nil || s.Caught() != 0 || s.Held() {
		t.Error("there was a signal")
	}
}

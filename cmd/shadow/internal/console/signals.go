package console

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Bounds after a signal. A verb that keeps nothing is gone after signalGrace, any other afterHold after what it keeps is whole.
const (
	signalGrace = 300 * time.Millisecond
	afterHold   = 600 * time.Millisecond
	sameRequest = 300 * time.Millisecond // timeout(1) and others signal a process and then its group: that is one request
	lastWords   = 100 * time.Millisecond // who reads stderr may have stopped
)

// Signals ends the command on INT, TERM and HUP, whatever it does. The first signal cancels the verb's context. If the
// verb does not end soon, the process does, unless it holds that back for something it keeps; a second signal ends it all
// the same. A nil Signals ignores everything: the tests' process is not the command's.
type Signals struct {
	end     func(code int, sig syscall.Signal) // ends the process; 0: by the code alone
	cancel  context.CancelFunc                 // the verb's context
	hurry   context.CancelFunc                 // what is being finished
	hurried context.Context

	mu      sync.Mutex
	caught  syscall.Signal // the first that this command took for itself; 0: none
	at      time.Time
	passing bool
	passed  syscall.Signal // the last that was the child's
	holds   []*hold        // who keeps something
	held    bool           // somebody did, at some time
	due     time.Time      // when timer ends it
	timer   *time.Timer    // ends the process
	code    int            // of a process that is ended; byTheSignal
	say     func()         // the last words; nil: none
	discard func()         // removes unfinished files; nil: there are none
}

type hold struct{ limit time.Duration }

// ByTheSignal is the exit code of a command that ends as if it had not caught the signal: 130 or 143 in a shell.
const ByTheSignal = -1

// WatchSignals begins to catch signals for the verb that gets the context.
func WatchSignals(ctx context.Context) (context.Context, *Signals) {
	ctx, s := newSignals(ctx, endProcess)
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // else nohup has asked to survive it
		list = append(list, syscall.SIGHUP)
	}
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, list...)
	go func() {
		for sig := range caught {
			s.catch(sig.(syscall.Signal), time.Now())
		}
	}()
	return ctx, s
}

func newSignals(ctx context.Context, end func(int, syscall.Signal)) (context.Context, *Signals) {
	s := &Signals{end: end, code: ByTheSignal}
	s.hurried, s.hurry = context.WithCancel(context.WithoutCancel(ctx))
	ctx, s.cancel = context.WithCancel(ctx)
	return ctx, s
}

// endProcess ends the process. A shell's loop stops only if the signal itself ends the command.
func endProcess(code int, sig syscall.Signal) {
	if code == ByTheSignal {
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig)
		time.Sleep(lastWords) // the first process of a container does not die of it
		code = 128 + int(sig)
	}
	os.Exit(code)
}

func (s *Signals) catch(sig syscall.Signal, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.passing:
		s.passed, s.at = sig, now
	case s.caught|s.passed != 0 && now.Sub(s.at) < sameRequest:
	case s.caught|s.passed != 0:
		s.caught = sig
		s.cancel()
		s.hurry()
		s.arm(signalGrace)
	default:
		s.caught, s.at = sig, now
		s.cancel()
		if d := s.limit(); d > 0 {
			s.arm(d)
		}
	}
}

// limit is how long the verb has; 0: no bound. Needs s.mu.
func (s *Signals) limit() time.Duration {
	if len(s.holds) == 0 {
		return signalGrace
	}
	d := time.Duration(0)
	for _, h := range s.holds {
		if h.limit > 0 && (d == 0 || h.limit < d) {
			d = h.limit
		}
	}
	return d
}

// arm lets the process end after d, or when it would have ended. Needs s.mu.
func (s *Signals) arm(d time.Duration) {
	due := time.Now().Add(d)
	if s.timer != nil && (s.due.Before(due) || !s.timer.Stop()) {
		return
	}
	s.due = due
	s.timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		code, sig, say, discard := s.code, s.caught, s.say, s.discard
		if code == 128+int(sig) { // as Exit does
			code = ByTheSignal
		}
		s.mu.Unlock()
		if discard != nil {
			discard()
		}
		if say != nil {
			said := make(chan struct{})
			go func() { say(); close(said) }()
			select {
			case <-said:
			case <-time.After(lastWords):
			}
		}
		s.end(code, sig)
	})
}

// Hold lets a verb finish what it keeps, in limit after a signal; 0: it has a bound of its own, or none.
func (s *Signals) Hold(limit time.Duration) (release func()) {
	if s == nil {
		return func() {}
	}
	h := &hold{limit}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds, s.held = append(s.holds, h), true
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.holds = slices.DeleteFunc(s.holds, func(x *hold) bool { return x == h })
		if len(s.holds) == 0 && s.caught != 0 && s.hurried.Err() == nil {
			s.arm(afterHold)
		}
	})
}

// Finish is the context of a verb that finishes what it keeps. It ends with the second signal, and patience after the first.
func (s *Signals) Finish(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if s == nil {
		return own, cancel
	}
	late := func() { time.AfterFunc(patience, cancel) }
	if s.Caught() != 0 {
		late()
	}
	stops := []func() bool{context.AfterFunc(ctx, late), context.AfterFunc(s.hurried, cancel)}
	return own, func() {
		cancel()
		for _, stop := range stops {
			stop()
		}
	}
}

// Pass leaves the signals to a child, until back gets its exit code. One that ended the child was meant for both.
func (s *Signals) Pass() (back func(code int)) {
	if s == nil {
		return func(int) {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passing = true
	return func(code int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.passing = false
		if s.passed == syscall.SIGTERM || s.passed != 0 && code == 128+int(s.passed) {
			s.caught = s.passed
			if d := s.limit(); d > 0 {
				s.arm(d)
			}
		}
	}
}

// Held reports whether the verb has, or had, something to keep.
func (s *Signals) Held() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Caught is the signal that asked the command to end; 0: none did.
func (s *Signals) Caught() syscall.Signal {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caught
}

// Last says what a process that a signal ends from here on says, and its exit code.
func (s *Signals) Last(code int, say func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.say = code, say
}

// Discard says how unfinished files are removed from a process that a signal ends.
func (s *Signals) Discard(discard func()) {
	s.mu.Lock() // signals are caught already
	defer s.mu.Unlock()
	s.discard = discard
}

// Exit ends the process with the verb's exit code.
func (s *Signals) Exit(code int) {
	if sig := s.Caught(); sig != 0 && code == 128+int(sig) {
		s.end(ByTheSignal, sig)
		return
	}
	s.end(code, 0)
}

package sched

import (
	"time"

	"stackagent/internal/timers"
	"stackagent/internal/units"
)

func (o *Observer) run() {
	defer o.done.Done()
	wait := pollInterval
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-o.stop:
			return
		case <-o.wakes:
		case <-timer.C:
		}
		o.mu.Lock()
		o.countedPoll()
		wait = o.pace(wait)
		if wait > steadyInterval && o.listen != nil {
			o.listen()
		}
		o.recent = 0
		o.mu.Unlock()
		timer.Reset(timers.After(wait))
	}
}

// pace is the time until the next look; before is that until this one.
func (o *Observer) pace(before time.Duration) time.Duration {
	switch {
	case !o.busy():
		return idleInterval
	case o.listen == nil:
		return pollInterval
	case o.quiet():
		return min(2*before, quietInterval)
	case o.steady():
		return steadyInterval
	}
	return pollInterval
}

// steady reports whether looks may be late although much happens: no JVM collects garbage, of whose collections between
// two looks only the last one's cause is known.
func (o *Observer) steady() bool {
	at := now()
	if at-units.MonoNs(o.launched.Load()) < launchPatience {
		return false
	}
	for _, p := range o.processes {
		if !p.over && (p.b.inside || at-max(p.b.begin, p.gc.collected) < steadyAfter) {
			return false
		}
	}
	return true
}

// wake makes the observer look now, and then often.
func (o *Observer) wake() {
	select {
	case o.wakes <- struct{}{}:
	default: // it is awake already
	}
}

// quiet reports whether so little happens that a look may be late. No look may be late if the ids of threads have to
// be read while these live, nor in the first moments, when much is read from elsewhere.
func (o *Observer) quiet() bool {
	at := now()
	if o.recent > quietEvents || at-units.MonoNs(o.launched.Load()) < launchPatience {
		return false
	}
	for _, p := range o.processes {
		if !p.over && (p.runs || p.b.inside || at-p.b.begin < quietAfter) {
			return false
		}
	}
	return true
}

// busy reports whether a process is observed, or may be at any moment: the source reports a launched process
// by itself.
func (o *Observer) busy() bool {
	if len(o.events) > 0 || now()-units.MonoNs(o.launched.Load()) < launchPatience {
		return true
	}
	for _, p := range o.processes {
		if !p.over {
			return true
		}
	}
	return false
}

package sched

import (
	"time"

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
		o.poll()
		switch {
		case !o.busy():
			wait = idleInterval
		case o.patient && o.quiet():
			wait = min(2*wait, quietInterval)
		default:
			wait = pollInterval
		}
		o.recent = 0
		o.mu.Unlock()
		timer.Reset(wait)
	}
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

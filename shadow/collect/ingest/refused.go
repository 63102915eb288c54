package ingest

import (
	"sync"
	"time"
)

// Doorkeeper is a Live that also learns of messages that are not stored: they
// are no batches, or not of whom they claim. They are reported together, at most
// once in refusedPause, so that a flood of them is a few lines.
type Doorkeeper interface {
	Refused(subject string, n uint64, why error)
}

// refusedPause is the time between two lines about refused messages.
const refusedPause = 10 * time.Second

// refusals are messages that are not reported yet.
type refusals struct {
	mu       sync.Mutex
	reported time.Time
	n        uint64
	subject  string // of the last
	why      error
	waiting  bool // somebody reports at the end of the pause
}

func (in *Ingest) tellRefused(subject string, n uint64, why error) {
	d, ok := in.o.Live.(Doorkeeper)
	if !ok {
		return
	}
	r := &in.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.subject, r.why = r.n+n, subject, why
	if r.waiting {
		return
	}
	if left := refusedPause - time.Since(r.reported); left > 0 && !r.reported.IsZero() {
		r.waiting = true
		time.AfterFunc(left, func() { r.report(d) })
		return
	}
	r.reported = time.Now()
	d.Refused(r.subject, r.n, r.why)
	r.n = 0
}

// report reports what came since the last time.
func (r *refusals) report(d Doorkeeper) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting = false; r.n == 0 {
		return
	}
	r.reported = time.Now()
	d.Refused(r.subject, r.n, r.why)
	r.n = 0
}

package ingest

import "time"

// A shadow of many sessions cannot do for each what one of few does: 10,000 that wake up every second and store a part
// every ten take more than the processors and the disk of a small machine, for hardly any rows. And a stream has 1000
// consumers at most by default, each of which costs something at each acknowledgement. So from denseSessions on sessions
// take turns, see turn.go, and the more there are, the longer each waits: all of them together store as often as
// denseSessions do.
const (
	denseSessions = 500
	mostStretch   = 20 // bounds how much longer they wait
	mostPace      = 10 // bounds how much more seldom they look by themselves whether something is due
)

// stretch is how many times denseSessions there are.
func (in *Ingest) stretch() float64 {
	return min(max(1, float64(in.opened.Load())/float64(max(in.o.dense, 1))), mostStretch)
}

// quietPace is how often a session looks by itself whether something is due.
func (in *Ingest) quietPace() time.Duration {
	return time.Duration(min(in.stretch(), mostPace) * float64(publishInterval))
}

package ingest

import "time"

// pressedPatience is how long a session may be silent while others wait for
// room; agents send a batch every second, or every four when there is nothing to report.
const pressedPatience = 10 * time.Second

// turnPause is when the messages of a JVM come again that has to wait for its namesakes.
const turnPause = 5 * time.Second

// Crowd is a Live that also learns when sessions wait for room, with how many
// (JVMs that wait for others of their name are one) and the limit, and with 0
// when none does any more. What waits is safe on the
// bus, and in the JVMs when the bus is full.
type Crowd interface {
	Crowded(waiting, limit int)
}

// crowd looks whether sessions have to wait. Then those that have ended leave at
// once, and silent ones soon, so that many names, however they came up, cannot
// keep the others out.
func (in *Ingest) crowd(names []string, room, held int) {
	mine := 0
	for _, name := range names {
		if !in.member.OwnedByOther(name) {
			mine++
		}
	}
	waiting := max(mine-held-max(room, 0), 0)
	if time.Since(time.Unix(0, in.turnedAway.Load())) < 2*turnPause {
		waiting++
	}
	in.pressed.Store(waiting > 0 || held > 0)
	if was := in.crowded; was == (waiting > 0) {
		return
	}
	in.crowded = waiting > 0
	if waiting > 0 {
		in.log.Warn("ingest: sessions wait for their turn; --max-sessions raises the limit", "waiting", waiting, "limit", in.o.MaxSessions)
	}
	if c, ok := in.o.Live.(Crowd); ok {
		c.Crowded(waiting, in.o.MaxSessions)
	}
}

// patience is how long nothing may come before a session is closed.
func (s *source) patience() time.Duration {
	if s.in.pressed.Load() {
		return min(s.in.o.LostContact, pressedPatience)
	}
	return s.in.o.LostContact
}

package summary

import (
	"errors"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/timeline"
	"stackagent/shadow/session"
)

// Activity is what the threads did with their time, for figures: over the time
// that the scheduling record covers.
type Activity struct {
	Bottle   *bottle.Graph
	Timeline *timeline.Timeline
}

// Grid and rows of a timeline.
const (
	timeBuckets  = 240
	timelineRows = 28
)

// readActivity reads the scheduling record; without one there is nothing to
// show. One that cannot be read causes a warning.
func (b *builder) readActivity(s *Summary) *Activity {
	if b.src.Activity == nil {
		return nil
	}
	a, err := b.src.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		return nil
	}
	var out *Activity
	if err == nil {
		out, err = activityOf(a)
		for _, d := range a.Damage() {
			s.Warnings = append(s.Warnings, d.Error())
		}
	}
	if err != nil {
		s.Warnings = append(s.Warnings, err.Error())
		return nil
	}
	return out
}

// activityOf goes over the slices twice: the threads to show are those that ran
// most.
func activityOf(a *session.Activity) (*Activity, error) {
	stream := a.Stream(a.From, a.To)
	graphs, err := bottle.Compute(a.Threads, stream, activity.Span{From: a.From, To: a.To})
	if err != nil {
		return nil, err
	}
	out := &Activity{Bottle: graphs[0]}
	out.Timeline, err = timeline.Compute(a.Threads, stream, granularity.NewGrid(a.From, a.To, timeBuckets), timeline.Ran(graphs[0]), timelineRows)
	return out, err
}

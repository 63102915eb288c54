package bottle

import (
	"slices"

	"stackagent/granularity/activity"
)

// CountRunnable is the stream with threads that wait for a CPU as running ones. Its bottle graph is that of
// 'running or runnable': what the program could have used, where there are fewer CPUs than threads. Widths
// and areas then do not depend on the number of CPUs.
func CountRunnable(stream activity.Stream) activity.Stream {
	return func(use func(activity.Slice) error) error {
		return stream(func(s activity.Slice) error {
			if s.State == activity.Runnable {
				s.State = activity.Running
			}
			return use(s)
		})
	}
}

// Sum is the box of all threads of these kinds. Its height is what the bottle graph paper (section 4) calls
// their time, its area their work: garbage collection time and work, application time and work.
func (g *Graph) Sum(kinds ...string) Box {
	sum := Box{}
	for _, b := range g.Boxes {
		if slices.Contains(kinds, b.Kind) {
			sum.add(b)
		}
	}
	return sum
}

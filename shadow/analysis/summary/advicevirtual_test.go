package summary_test

import (
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// pinnedSession is one of two carriers and eight virtual threads that were started at
// once. Two at a time run a unit of 50 ms, parked on the carrier for all of it but 1 ms.
func pinnedSession(t *testing.T) *sessionBuilder {
	b := newSessionBuilder(t, []string{"", "com.acme.Job", "java.lang.VirtualThread"})
	for i := range uint32(8) {
		start := int64(100+50*(i/2)) * ms
		b.part.Threads[i].Virtual, b.part.Threads[i].StartNs = true, &start
		job := store.Execution{
			TaskID: 100 + uint64(i), OuterTaskID: 200 + uint64(i), Depth: 1, Class: 1, Thread: i + 1, Flags: uint16(wire.Virtual), SubmittedNs: 100 * ms,
			StartNs: units.MonoNs(start), EndNs: units.MonoNs(start + 50*ms), WallNs: 50 * ms, SelfWallNs: 50 * ms, CPUNs: 1 * ms, SelfCPUNs: 1 * ms,
		}
		thread := job
		thread.TaskID, thread.OuterTaskID, thread.Depth, thread.Class, thread.SelfWallNs, thread.SelfCPUNs = job.OuterTaskID, 0, 0, 2, 0, 0
		b.part.Executions = append(b.part.Executions, job, thread)
		b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: 100 + uint64(i), Class: 1, Thread: 9, Executor: 1, Site: 1, AtNs: 100 * ms})
		b.part.VirtualThreads = append(b.part.VirtualThreads, store.VirtualThread{
			Thread: i + 1, Class: 1, AtNs: start + 50*ms, Threads: 1, Mounts: 1, First: 9, Last: 9, Pins: 1, PinnedNs: 49 * ms, ReadyNs: new(units.Ns),
		})
	}
	for id := uint32(9); id <= 10; id++ {
		b.part.Threads = append(b.part.Threads, store.Thread{ID: id, JavaID: int64(id) + 10, Name: "ForkJoinPool-1-worker-1", Group: "CarrierThreads"})
	}
	return b
}

// TestPinnedThreads: what virtual threads that parked on their carriers kept from
// others, worked out by hand, and sessions that do not bear it out.
func TestPinnedThreads(t *testing.T) {
	const says = "Virtual threads parked 8 times while pinned to their carriers, for 392 ms in total (8 times and 392 ms in threads of com.acme.Job, submitted at com.acme.Main.run:7). " +
		"They kept 2 carriers from others that waited for one, for 73 % of the time. Use a lock of java.util.concurrent instead of synchronized"
	for _, c := range []struct {
		name   string
		change func(*sessionBuilder)
		gain   units.Ns // 0: not found
	}{
		{"pinned", func(*sessionBuilder) {}, 150 * ms},
		{"ready again for long", func(b *sessionBuilder) { b.part.VirtualThreads[0].ReadyNs = new(units.Ns(20 * ms)) }, 170 * ms},
		{"not known how long ready", func(b *sessionBuilder) { b.part.VirtualThreads[0].ReadyNs = nil }, 196 * ms}, // all but the 8 ms of CPU time on two processors
		{"away, and so not on a carrier", func(b *sessionBuilder) { b.part.VirtualThreads[0].PinnedNs, b.part.VirtualThreads[0].AwayNs = 0, 49*ms }, 150 * ms},
		{"tasks wait for a worker, and workers that start for no carrier", func(b *sessionBuilder) {
			for i := range b.part.Executions {
				if x := &b.part.Executions[i]; x.Class == 2 {
					x.SubmittedNs = x.StartNs
				}
			}
		}, 0},
		{"of one it is not known how long it waited", func(b *sessionBuilder) { b.part.Executions[1].SubmittedNs = 0 }, 196 * ms},
		{"combined", func(b *sessionBuilder) { b.part.VirtualThreads[0].Thread = 0 }, 0},
		{"not all recorded", func(b *sessionBuilder) { b.part.VirtualThreads = b.part.VirtualThreads[1:] }, 0},
	} {
		b := pinnedSession(t)
		c.change(b)
		s := b.open(true)
		s.Manifest.JVM.Version = "21.0.8+9-LTS"
		s.Manifest.Scheduling = &store.VirtualScheduling{Mounts: 8, Unmounts: 8, Pins: 8, PinnedNs: 392 * ms}
		sum, err := summary.Build(s, summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []advice.Finding
		for _, f := range sum.Findings {
			if f.Kind == advice.Advice {
				found = append(found, f)
			}
		}
		switch {
		case c.gain == 0 && len(found) == 0:
		case len(found) != 1 || found[0].Rule != "pinned-threads" || found[0].Worth != c.gain:
			t.Errorf("%s: %+v, want a gain of %v", c.name, found, c.gain)
		case c.name == "pinned" && !strings.HasPrefix(found[0].Text, says):
			t.Errorf("%q, want %q", found[0].Text, says)
		}
	}
}

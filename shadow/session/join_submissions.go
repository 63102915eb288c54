package session

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// submission is what the join keeps of a submission: 32 bytes.
type submission struct {
	id                     uint64
	at                     units.MonoNs
	thread, executor, site uint32
	flags                  wire.SubmissionFlags
	dropped                bool // taken back: the executor refused it
}

// stands reports whether x is a submission that was neither refused nor cancelled.
func (x *submission) stands() bool {
	return !x.dropped && x.flags&(wire.Rejected|wire.NoSubmission) == 0
}

// maxSubmissions bounds the places in a page.
const maxSubmissions = math.MaxUint32 - 1

// readSubmissions sorts the submissions by task and time, takes out those that
// were refused, and notes where each task's begin.
func (j *join) readSubmissions() error {
	err := j.s.Submissions(func(c *SubmissionChunk) error {
		if len(j.submissions)+c.Len() > maxSubmissions {
			return ErrTooManyTasks
		}
		for i, id := range c.TaskID {
			j.submissions = append(j.submissions, submission{id: id, at: c.AtNs[i], thread: c.Thread[i],
				executor: c.Executor[i], site: c.Site[i], flags: wire.SubmissionFlags(c.Flags[i])})
		}
		return nil
	})
	if err != nil {
		return err
	}
	const after = wire.Rejected | wire.NoSubmission // of the same moment, these come last
	slices.SortStableFunc(j.submissions, func(a, b submission) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.at, b.at), cmp.Compare(a.flags&after, b.flags&after))
	})
	for from := 0; from < len(j.submissions); {
		to := j.end(from)
		refuse(j.submissions[from:to])
		p := j.at(j.submissions[from].id, true)
		if p.submitted == nil {
			p.submitted = new([64]uint32)
		}
		p.submitted[j.submissions[from].id&63] = uint32(from + 1)
		from = to
	}
	return nil
}

// end is where the submissions of the task of entry from end.
func (j *join) end(from int) int {
	x, id := j.submissions, j.submissions[from].id
	if from+1 == len(x) || x[from+1].id != id {
		return from + 1
	}
	return from + sort.Search(len(x)-from, func(i int) bool { return x[from+i].id > id })
}

// refuse drops the submission that each refusal takes back: the latest before it.
func refuse(x []submission) {
	var open []int
	for i := range x {
		switch {
		case x[i].flags&wire.Rejected != 0:
			if n := len(open); n > 0 {
				x[open[n-1]].dropped, open = true, open[:n-1]
			}
		case x[i].stands():
			open = append(open, i)
		}
	}
}

// of lists the submissions of a task, by time.
func (j *join) of(id uint64, p *page) []submission {
	if p.submitted == nil || p.submitted[id&63] == 0 {
		return nil
	}
	from := int(p.submitted[id&63] - 1)
	return j.submissions[from:j.end(from)]
}

// submitted fills in the latest submission before the start of t. When the agent
// reported the queue time, it is the one that this was measured from. A periodic task
// is queued again without a submission of its own: it keeps the one before. Queue times are the
// agent's: only it knows which execution took a submission.
func (j *join) submitted(t *Task, p *page) {
	until := t.StartNs
	if t.QueueNs.Measured() {
		until -= units.MonoNs(t.QueueNs)
		if t.DelayNs.Measured() {
			until -= units.MonoNs(t.DelayNs)
		}
		t.SubmittedNs = until
	}
	x := j.of(t.TaskID, p)
	last := sort.Search(len(x), func(i int) bool { return x[i].at > until }) - 1
	for last >= 0 && !x[last].stands() {
		last--
	}
	if last < 0 || t.QueueNs.Measured() && !t.DelayNs.Measured() && x[last].at != until {
		return // none, or it was lost
	}
	j.fill(t, &x[last])
	if t.QueueNs.Measured() {
		t.SubmittedNs = until
	}
}

func (j *join) fill(t *Task, x *submission) {
	j.row = Submission{
		AtNs: x.at, Thread: j.s.ThreadByID(x.thread), ExecutorID: x.executor, Executor: j.s.ExecutorByID(x.executor),
		Site: j.s.SiteByID(x.site), Flags: x.flags,
	}
	t.Submission, t.SubmittedNs = &j.row, x.at
}

// addConstructions keeps what it cost to make the tasks whose creation is known.
func (j *join) addConstructions(c *ConstructionChunk) error {
	if j.inits == nil {
		j.inits = make([]units.Ns, len(j.creations))
		for i := range j.inits {
			j.inits[i] = units.NotMeasured
		}
	}
	for i, id := range c.TaskID {
		if p := j.at(id, false); p != nil && p.made[id&63] != 0 {
			j.inits[p.made[id&63]-1] = c.WallNs[i]
		}
	}
	return nil
}

// created fills in what is known of the creation at that place.
func (j *join) created(t *Task, place int) {
	c := &j.creations[place]
	t.CreatedNs, t.CreatorThread = c.at, j.s.ThreadByID(c.thread)
	if j.sites != nil {
		t.CreatedAt = j.s.SiteByID(j.sites[place])
	}
	if j.inits != nil {
		t.InitNs = j.inits[place]
	}
}

// readSummaries notes the classes of which summaries hold first executions of
// tasks whose creation was seen: of their recorded creations it is not known
// which those are.
func (j *join) readSummaries() error {
	bad, err := j.s.folder.ReadSummaries(func(x *store.Summary) {
		if x.First > 0 {
			j.summarised[x.Class] = true
		}
		if x.Submissions > 0 {
			j.fates.summarised[x.Class] = true
		}
	})
	j.s.warnAll(bad)
	return err
}

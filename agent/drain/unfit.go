package drain

import (
	"fmt"
	"reflect"

	"stackagent/internal/wire"
)

// leaveOut takes those parts of b out of what is pending that cannot be encoded by
// themselves, and counts them. b has the smallest share, so a part is one record.
// false: it is nothing that can be left out.
func (c *Collector) leaveOut(b *wire.Batch, cause error) bool {
	left := false
	for _, part := range c.pending.parts(b) {
		part.Session, part.Process, part.Seq = b.Session, b.Process, b.Seq
		if err := c.encode(part); err != nil {
			c.pending.lose(part, err)
			c.pending.taken(part)
			left, cause = true, err
		}
	}
	if !left && b.Running != nil {
		b.Running, left = nil, true // the next report has it again
	}
	if left && !c.unfit {
		c.unfit = true
		c.cfg.Notice(fmt.Sprintf("%v: this record is lost, and others like it are counted; recording continues. This is a bug in stackagent, please report it", cause))
	}
	return left
}

// parts are batches of one kind of records each: what b holds.
func (p *pending) parts(b *wire.Batch) []*wire.Batch {
	list := append(eventParts(b), &wire.Batch{Summaries: b.Summaries}, &wire.Batch{Contexts: b.Contexts}, &wire.Batch{Refusals: b.Refusals})
	for _, l := range p.lists() {
		part := &wire.Batch{}
		l.fill(part, 1)
		list = append(list, part)
	}
	return list
}

// lose counts the records of a part. Those without a counter of their own are named with the reason.
func (p *pending) lose(part *wire.Batch, cause error) {
	unfit, lost := p.unfit, p.lost
	for i := range part.Executions {
		p.loseEvents(part.Executions[i].Thread, 1)
	}
	for i := range part.Creations {
		p.loseEvents(part.Creations[i].Thread, 1)
	}
	for i := range part.Summaries {
		s := &part.Summaries[i]
		p.loseEvents(s.Thread, s.Executions+s.CreationEvents())
		p.lost.LostSubmissions += s.SubmissionEvents()
	}
	p.lost.LostSubmissions += uint64(len(part.Submissions))
	p.lost.LostConstructions += uint64(len(part.Constructions))
	p.lost.LostTaskTraces += uint64(len(part.TaskTraces))
	if p.unfit == unfit && reflect.DeepEqual(p.lost, lost) {
		p.refuse(wire.Refusal{Reason: LostUnfit, Count: 1, Sample: cause.Error()})
	}
}

func (p *pending) loseEvents(thread uint32, n uint64) {
	p.unfit += n
	p.losses.add(thread, n)
}

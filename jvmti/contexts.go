package jvmti

/*
#include "state_contexts.h"
*/
import "C"

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

const newsAtOnce = 512 // of frames, contexts and sums each

// contextNews is room for what the C side reports of calling contexts.
type contextNews struct {
	calls    [newsAtOnce]C.sa_call_news
	contexts [newsAtOnce]C.sa_context_news
	sums     [newsAtOnce]C.sa_context_sums
}

// Contexts returns what is new of calling contexts: frames before the contexts
// that name them, contexts before their sums. more: there is more, or the round
// through the sums is not over.
func (d *Drainer) Contexts() (news wire.Contexts, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if C.sa.config.contexts == 0 && C.sa.config.wait_ns == 0 && !C.sa.config.allocations && !C.sa.config.samples {
		return news, false
	}
	if d.contexts == nil {
		d.contexts = &contextNews{}
	}
	news.Account = contextTotals()
	p := d.contexts
	n := int(C.sa_contexts_new(&p.contexts[0], newsAtOnce))
	for i := range p.contexts[:n] {
		news.Contexts = append(news.Contexts, context(&p.contexts[i]))
	}
	if more = n == newsAtOnce; !more {
		var left C.bool
		n = int(C.sa_contexts_sums(&p.sums[0], newsAtOnce, &left))
		for i := range p.sums[:n] {
			x := &p.sums[i]
			news.Sums = append(news.Sums, wire.ContextSum{ID: uint32(x.id), Count: uint64(x.sums[0]),
				Wall: units.Ticks(x.sums[1]), Measured: uint64(x.sums[2]), CPU: units.Ns(x.sums[3]), Bytes: uint64(x.sums[4])})
		}
		more = bool(left)
	}
	for n = newsAtOnce; n == newsAtOnce; {
		n = int(C.sa_contexts_calls(&p.calls[0], newsAtOnce))
		for i := range p.calls[:n] {
			news.Frames = append(news.Frames, frame(&p.calls[i]))
		}
	}
	return news, more
}

func context(x *C.sa_context_news) wire.Context {
	c := wire.Context{ID: uint32(x.id), Kind: wire.ContextKind(x.kind), Class: uint32(x.class_id), Cut: bool(x.cut), Thread: uint32(x.thread_id)}
	for _, id := range x.calls[:x.frames] {
		c.Frames = append(c.Frames, uint32(id))
	}
	return c
}

func frame(x *C.sa_call_news) wire.Frame {
	return wire.Frame{ID: uint32(x.id), Class: text(x.call.class_name), Method: text(x.call.method_name),
		File: text(x.call.file), Line: int32(x.call.line)}
}

// contextTotals are how many events were sampled, and how many of them have no context.
func contextTotals() wire.ContextSampling {
	var t C.sa_context_totals
	C.sa_contexts_totals(&t)
	return wire.ContextSampling{Every: uint64(C.sa.config.contexts), Taken: uint64(t.taken), Lost: uint64(t.lost), Unseen: uint64(t.unseen)}
}

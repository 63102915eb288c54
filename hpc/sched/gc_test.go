package sched

import (
	"testing"

	"stackagent/internal/units"
)

// fakeCounters are a JVM's.
type fakeCounters struct {
	longs map[string]int64
	texts map[string]string
}

func (c *fakeCounters) Read() error { return nil }
func (c *fakeCounters) Long(name string) (int64, bool) {
	n, ok := c.longs[name]
	return n, ok
}
func (c *fakeCounters) Text(name string) (string, bool) {
	s, ok := c.texts[name]
	return s, ok
}
func (c *fakeCounters) Close() error { return nil }

// The JVM counts a collection when it begins. Until it is over, the counters have the
// end of the one before; it is recorded at its own end.
func TestCollectionUnderWay(t *testing.T) {
	c := &fakeCounters{map[string]int64{"sun.gc.collector.0.invocations": 0}, map[string]string{"sun.gc.collector.0.name": "young"}}
	g := &gcWatch{data: c}
	at := units.MonoNs(0)
	look := func(invocations, entry, exit int64, cause string) []GCSample {
		at++
		for name, n := range map[string]int64{"invocations": invocations, "lastEntryTime": entry, "lastExitTime": exit} {
			c.longs["sun.gc.collector.0."+name] = n
		}
		c.texts["sun.gc.cause"] = cause
		g.look(1, func() units.MonoNs { return at })
		return g.take()
	}
	want := func(got []GCSample, n int64, entry, exit units.Ns) {
		t.Helper()
		if len(got) != 1 || got[0].Invocations != n || got[0].Entry != entry || got[0].Exit != exit || got[0].Cause != "full" || got[0].Collector != "young" {
			t.Errorf("%+v, want number %d from %d to %d", got, n, entry, exit)
		}
	}
	if got := look(1, 100, 0, "full"); len(got) > 0 {
		t.Errorf("recorded while it is under way: %+v", got)
	}
	want(look(1, 100, 130, "full"), 1, 100, 130)
	if got := look(1, 100, 130, noGC); len(got) > 0 {
		t.Errorf("recorded twice: %+v", got)
	}
	want(look(2, 200, 220, "full"), 2, 200, 220)
	look(3, 300, 220, "full")
	want(look(4, 400, 450, "full"), 4, 400, 450) // the third's end was not seen
	look(5, 500, 450, "full")
	g.cutOff()
	want(g.take(), 5, 500, units.NotMeasured)
	g.cutOff()
	if got := g.take(); len(got) > 0 {
		t.Errorf("cut off twice: %+v", got)
	}
}

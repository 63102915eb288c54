package console

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestBar: what is done soon shows nothing, what takes long its share, and in
// the end nothing is left of it.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	env := Env{Err: &out, Now: func() time.Time { return now }}
	b := newBar(env)
	b.Show("reading", 10, 200)
	b.Clear()
	if out.Len() != 0 {
		t.Errorf("after no time: %q", out.String())
	}
	now = now.Add(barFrom)
	b.Show("reading", 100, 200)
	b.Show("reading", 101, 200) // too soon after the other
	if got := out.String(); !strings.HasSuffix(got, "shadow: reading [===============               ] 50 %") || strings.Count(got, "50") != 1 {
		t.Errorf("half way: %q", got)
	}
	now = now.Add(barStep)
	b.Show("reading", 300, 200) // more rows than the manifest knows
	b.Clear()
	if got := out.String(); !strings.Contains(got, "[==============================] 100 %") || !strings.HasSuffix(got, clearLine) {
		t.Errorf("at the end: %q", got)
	}
}

// TestBarLate: a step without a figure shows by itself when it takes long, and not once it is over.
func TestBarLate(t *testing.T) {
	draws := func(clear bool) string {
		var out bytes.Buffer
		now := time.Unix(1000, 0)
		b := newBar(Env{Err: &out, Now: func() time.Time { return now }})
		b.next = now.Add(time.Millisecond)
		b.Show("reading waits", 0, 0)
		b.mu.Lock()
		late := b.late
		b.mu.Unlock()
		if late == nil {
			t.Fatal("nothing is to be drawn")
		}
		if clear {
			b.Clear()
			return out.String()
		}
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			b.mu.Lock()
			drawn := b.drawn
			b.mu.Unlock()
			if drawn {
				break
			}
		}
		return out.String()
	}
	if got := draws(false); !strings.HasSuffix(got, "shadow: reading waits ...") {
		t.Errorf("drew %q", got)
	}
	if got := draws(true); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

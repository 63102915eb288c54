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

package fleet

import (
	"errors"
	"testing"
	"time"

	"stackagent/shadow/fleet/rollup"
)

var now = time.Date(2026, 3, 31, 14, 30, 0, 0, time.UTC)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	x, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// From two days on, a question is about whole days, and the coarsest roll-ups that have what it is about answer it.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		q        Question
		from, to string
		by       By
		level    rollup.Level
	}{
		{Question{Last: "6h"}, "2026-03-31T08:30", "2026-04-01T00:00", Class, rollup.Detail},
		{Question{Last: "7d"}, "2026-03-25T00:00", "2026-04-01T00:00", Class, rollup.Day},
		{Question{Last: "7d"}, "2026-03-25T00:00", "2026-04-01T00:00", Instance, rollup.Instance},
		{Question{Last: "7d"}, "2026-03-25T00:00", "2026-04-01T00:00", Session, rollup.Detail},
		{Question{Last: "7d", Select: Select{Instance: "pod-*"}}, "2026-03-25T00:00", "2026-04-01T00:00", Class, rollup.Detail},
		{Question{Last: "7d", Select: Select{Class: "com.*"}}, "2026-03-25T00:00", "2026-04-01T00:00", Instance, rollup.Detail},
		{Question{From: "2026-03-01", To: "2026-03-11"}, "2026-03-01T00:00", "2026-03-11T00:00", Service, rollup.Day},
		{Question{From: "2026-03-01T10:00", To: "2026-03-11"}, "2026-03-01T10:00", "2026-03-11T00:00", Service, rollup.Detail},
		{Question{From: "2026-03-01T10:00:00+02:00", To: "2026-03-01T12:00"}, "2026-03-01T08:00", "2026-03-01T12:00", Service, rollup.Detail},
	} {
		s, err := c.q.Check(now)
		if err != nil || !s.From.Equal(at(t, c.from)) || !s.To.Equal(at(t, c.to)) {
			t.Errorf("%+v: %s %v, want %s to %s", c.q, s, err, c.from, c.to)
		}
		if got := c.q.level(s, now, c.by); got != c.level {
			t.Errorf("%+v by %s: level %s, want %s", c.q, c.by, got, c.level)
		}
	}
	for part, q := range map[string]Question{
		"last": {Last: "soon"}, "from": {From: "yesterday"}, "to": {To: "2026-02-30", Last: "7d"}, "service": {Services: []string{"a["}, Last: "7d"},
		"version": {Select: Select{Version: "["}, Last: "7d"}, "": {From: "2026-03-02", To: "2026-03-01"},
	} {
		_, err := q.Check(now)
		var wrong *Wrong
		if !errors.As(err, &wrong) || wrong.Part != part {
			t.Errorf("%+v: %v, want something of %q", q, err, part)
		}
	}
}

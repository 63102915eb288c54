package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/times"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/threads"
)

// threadJSON has fields of the JSON of shadow threads.
type threadJSON struct {
	Thread   string                   `json:"thread"`
	Kind     string                   `json:"kind"`
	Counters map[string]threads.Count `json:"counters"`
	Times    *struct {
		OSID       int32    `json:"os_id"`
		RunningNs  units.Ns `json:"running_ns"`
		RunnableNs units.Ns `json:"runnable_ns"`
		FutexNs    units.Ns `json:"futex_ns"`
		IONs       units.Ns `json:"io_ns"`
		SleepingNs units.Ns `json:"sleeping_ns"`
		BlockedNs  units.Ns `json:"blocked_ns"`
		UnknownNs  units.Ns `json:"unknown_ns"`
		FirstNs    int64    `json:"first_ns"`
		LastNs     int64    `json:"last_ns"`
		BeginSeen  bool     `json:"begin_seen"`
		EndSeen    bool     `json:"end_seen"`
	} `json:"times"`
}

// The running times of the groups are those of `shadow bottle` in the same groups.
func TestThreadsByPool(t *testing.T) {
	dir := recorded(t)
	for _, group := range []string{"pool", "kind"} {
		code, out, errs := shadow(t, nil, "threads", dir, "--group", group, "--format", "json")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		var rows []threadJSON
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err)
		}
		code, out, errs = shadow(t, nil, "bottle", dir, "--group", group, "--format", "json")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		var g times.BottleJSON
		if err := json.Unmarshal([]byte(out), &g); err != nil {
			t.Fatal(err)
		}
		for _, box := range g.Threads {
			found := false
			for _, r := range rows {
				found = found || r.Times != nil && r.Thread == box.Name && r.Kind == box.Kind && r.Times.RunningNs == box.RunningNs
			}
			if !found {
				t.Errorf("no row for the box %+v in %s", box, out)
			}
		}
	}
	if code, _, errs := shadow(t, nil, "threads", dir, "--group", "x"); code != 2 || !strings.Contains(errs, "pool") {
		t.Errorf("a wrong group: exit %d: %s", code, errs)
	}
}

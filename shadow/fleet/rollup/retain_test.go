package rollup

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/store/objectstore"
)

const days = 24 * time.Hour

func planned(t *testing.T, m *memory, p Policy) []Deletion {
	t.Helper()
	plan, err := Plan(context.Background(), m, p, m.now)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func apply(t *testing.T, m *memory, plan []Deletion) (n int) {
	t.Helper()
	if err := Apply(context.Background(), m, plan, m.now, func(Deletion) { n++ }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRetainRollups(t *testing.T) {
	m, want := filled(t)
	p := Policy{Detail: 30 * days, Day: 700 * days}
	if plan := planned(t, m, p); len(plan) > 0 {
		t.Errorf("young: %+v", plan)
	}
	m.now = m.now.Add(40 * days)
	if plan := planned(t, m, p); len(plan) != 2 || plan[0].Skipped == "" || apply(t, m, plan) != 0 {
		t.Errorf("not compacted: %+v", plan)
	}
	settle(t, m, m.now)
	plan := planned(t, m, p)
	if len(plan) != 2 || plan[0].Kind != string(Detail) || plan[0].Objects != 1 || plan[0].Bytes == 0 || plan[0].Skipped != "" {
		t.Fatalf("40 days old: %+v", plan)
	}
	if got := len(m.keys(levelPrefix(Detail))); got != 2 {
		t.Fatalf("planning deleted files; %d are left", got)
	}
	if apply(t, m, plan) != 2 || len(m.keys(levelPrefix(Detail))) != 0 {
		t.Error("the detail was not deleted")
	}
	for _, l := range []Level{Day, Instance} {
		if got := byKey(all(t, m, l), l); !reflect.DeepEqual(got, want[l]) {
			t.Errorf("level %s changed", l)
		}
	}
	if rows, a := allBut(t, m, Detail); len(rows) != 0 || len(a.Missing) != 2 || !strings.Contains(a.Missing[0].Why, "age") {
		t.Errorf("%d rows; not read: %v", len(rows), a.Missing)
	}
	m.now = m.now.Add(700 * days)
	if n := apply(t, m, planned(t, m, p)); n != 4 || len(m.keys(levelPrefix(Day))) != 0 || len(m.keys(manifestPrefix)) == 0 {
		t.Errorf("%d deletions; left: %v", n, m.keys(""))
	}
	m.now = m.now.Add(31 * days)
	if apply(t, m, planned(t, m, p)); len(m.keys("")) != 0 {
		t.Errorf("left: %v", m.keys(""))
	}
}

// TestRetainSessions: the manifest of a session goes first, and a session that goes on stays.
func TestRetainSessions(t *testing.T) {
	m := newMemory()
	put := func(service, session string, names ...string) {
		for _, n := range names {
			m.Put(context.Background(), objectstore.SessionPrefix(midnight, service, session)+n, bytes.NewReader([]byte(n)), int64(len(n)))
		}
	}
	put("orders", "old", "claim.json", "executions-1-2.parquet", "manifest.json", "scheduling/record.json")
	put("orders", "cut", "executions-1-2.parquet")
	put("orders", "long", "executions-1-2.parquet", "manifest.json")
	put("stock", "old", "manifest.json")
	m.now = m.now.Add(9 * days)
	put("orders", "long", "executions-3-4.parquet")
	m.Put(context.Background(), "sessions/date=2026-03-01/other.txt", bytes.NewReader(nil), 0)
	plan := planned(t, m, Policy{Raw: 7 * days})
	var names []string
	for _, d := range plan {
		names = append(names, strings.TrimPrefix(d.Name, "sessions/date=2026-03-01/"))
	}
	if want := []string{"service=orders/session=cut/", "service=orders/session=old/", "service=stock/session=old/"}; !slices.Equal(names, want) {
		t.Fatalf("planned: %v, want %v", names, want)
	}
	if plan[1].Objects != 4 || plan[1].Bytes != int64(len("claim.json")+len("executions-1-2.parquet")+len("manifest.json")+len("scheduling/record.json")) {
		t.Errorf("%+v", plan[1])
	}
	// Whatever the operation at which it is interrupted: a manifest that is left has all its files.
	for n := 1; n <= 12; n++ {
		x := m.clone()
		x.crashAt(n, false)
		Apply(context.Background(), x, plan, x.now, func(Deletion) {})
		x.recover()
		if left := x.keys(plan[1].Name); slices.Contains(left, plan[1].Name+"manifest.json") && len(left) != 4 {
			t.Errorf("interrupted at %d: %v", n, left)
		}
	}
	if apply(t, m, plan); len(m.keys("")) != 4 {
		t.Errorf("left: %v", m.keys(""))
	}
}

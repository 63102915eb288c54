package ownership

import (
	"slices"
	"testing"
	"time"
)

// rowsOf are the sessions that the table on the bus has rows of.
func rowsOf(t *testing.T, m *Member) []string {
	t.Helper()
	keys, err := m.kv.ListKeysFiltered(t.Context(), sessionKey+">")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for k := range keys.Keys() {
		list = append(list, k[len(sessionKey):])
	}
	slices.Sort(list)
	return list
}

// Rows of sessions that have ended are removed in time, also those that a shadow that was started
// again in its store had in its life before; those of sessions that go on stay.
func TestRowsGo(t *testing.T) {
	js, root := startServer(t), t.TempDir()
	h := openHome(t, root)
	first := join(t, js, h, time.Minute)
	claimAll(t, []string{"before", "goes-on"}, first)
	first.End()
	h.Close()
	m := join(t, js, openHome(t, root), time.Minute)
	if m.o.Home.ID != h.ID {
		t.Fatal("the shadow that starts again has another id")
	}
	claimAll(t, []string{"goes-on", "left", "released"}, m)
	m.leases["released"].Release(time.Hour)
	m.leases["left"].Release(48 * time.Hour)
	now := time.Now()
	for _, c := range []struct {
		at   time.Time
		want []string
	}{
		{now, []string{"before", "goes-on", "left", "released"}},
		{now.Add(2 * time.Hour), []string{"before", "goes-on", "left"}},
		{now.Add(oldRow + time.Hour), []string{"goes-on", "left"}},
		{now.Add(3 * oldRow), []string{"goes-on"}},
	} {
		m.sweep(t.Context(), c.at)
		if got := rowsOf(t, m); !slices.Equal(got, c.want) {
			t.Errorf("after %v: rows of %v, want %v", c.at.Sub(now), got, c.want)
		}
		wait(t, func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.sessions) == len(c.want) })
	}
	m.sweep(t.Context(), now)
	if len(m.forget) != 0 {
		t.Errorf("to be forgotten are still %v", m.forget)
	}
	if err := m.leases["goes-on"].renew(t.Context()); err != nil {
		t.Errorf("the lease of a session that goes on: %v", err)
	}
}

// However many sessions there were today, the table does not fill up: then it would take no heartbeat either.
func TestTableIsBounded(t *testing.T) {
	m := &Member{o: Options{Home: &Home{ID: "me"}}, peers: map[string]*peer{}, sessions: map[string]entry{}, leases: map[string]*Lease{},
		forget: map[string]time.Time{}}
	now := time.Now()
	const more = 100
	for i, name := range names(maxForget + more) {
		m.sessions[name] = entry{row: row{Owner: "me"}, revision: uint64(i + 1), made: now}
		m.forget[name] = now.Add(time.Hour + time.Duration(i)*time.Second)
	}
	list := m.old(now)
	for i, name := range names(maxForget + more) {
		if _, goes := list[sessionKey+name]; goes != (i < more) {
			t.Fatalf("of %d rows, where %d may stay, the %d. oldest goes: %v", maxForget+more, maxForget, i+1, goes)
		}
	}
}

func wait(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("does not happen within a minute")
		}
	}
}

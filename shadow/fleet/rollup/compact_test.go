package rollup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// putRows puts a file of a session into a store.
func putRows(t testing.TB, m *memory, folder string, seq uint64, rows []Row) {
	t.Helper()
	for day, rows := range byDay(rows) {
		data := encoded(t, slices.Clone(rows))
		key := freshKey(day, rows[0].Service, folder, store.Range{From: seq, To: seq})
		if err := m.PutIfAbsent(context.Background(), key, bytes.NewReader(data), int64(len(data))); err != nil && !errors.Is(err, objectstore.ErrExists) {
			t.Fatal(err)
		}
	}
}

// sessionRows are those of a batch of a session of a service.
func sessionRows(service, session string, seq int) (rows []Row) {
	for i := range 12 {
		value := int64(1000*seq + 100*i + len(session))
		r := Row{WindowUnixNs: midnight.Add(time.Duration(seq) * Window).UnixNano(), Service: service, Version: fmt.Sprint(1 + seq/4), Env: "prod", Instance: session,
			Session: session, Executor: fmt.Sprint("pool-", i%2), Class: fmt.Sprint("com.acme.Job", i%3), Site: "com.acme.Main.run:7", Metric: "wall_ns"}
		r.Add(&Cell{Count: 1, Sum: value, Min: value, Max: value, Counts: histogram.Counts[int32, int64]{Index: []int32{int32(100 + i)}, Buckets: []int64{1}}})
		n := r
		n.Metric, n.Count, n.Sum, n.Min, n.Max, n.Index, n.Buckets = Executions, 1, 0, 0, 0, nil, nil
		rows = append(rows, r, n)
	}
	return rows
}

const (
	someSessions = 2
	someBatches  = 3
)

// someFiles calls use with each file of the sessions of two services.
func someFiles(use func(session string, seq int, rows []Row)) {
	for s := range someSessions {
		for seq := 1; seq <= someBatches; seq++ {
			for _, service := range []string{"orders", "stock"} {
				name := fmt.Sprint(service, "-", s)
				use(name, seq, sessionRows(service, name, seq))
			}
		}
	}
}

// filled is a store with the files of sessions of two services, and what they add up to.
func filled(t *testing.T) (*memory, map[Level]map[string]Row) {
	m := newMemory()
	var all []Row
	someFiles(func(name string, seq int, rows []Row) {
		putRows(t, m, name, uint64(seq), rows)
		all = append(all, rows...)
	})
	m.operations = 0
	return m, expected(all)
}

// expected is what a reader of each level is to find, by an addition of its own.
func expected(rows []Row) map[Level]map[string]Row {
	want := map[Level]map[string]Row{}
	for _, l := range Levels {
		want[l] = byKey(rows, l)
	}
	return want
}

func byKey(rows []Row, l Level) map[string]Row {
	sums := map[string]Row{}
	for _, r := range rows {
		window := r.WindowUnixNs
		k := fmt.Sprint(r.Service, r.Version, r.Env, r.Metric, "|")
		switch l {
		case Detail:
			k += fmt.Sprint(r.Instance, r.Session, r.Executor, r.Class, r.Site, window)
		case Day:
			k += fmt.Sprint(r.Executor, r.Class, r.Site)
		default:
			k += r.Instance
		}
		old, there := sums[k]
		x := Row{Cell: Cell{Count: old.Count + r.Count, Sum: old.Sum + r.Sum, Min: r.Min, Max: r.Max}}
		if there {
			x.Min, x.Max = min(old.Min, r.Min), max(old.Max, r.Max)
		}
		buckets := map[int32]int64{}
		for _, h := range []Row{old, r} {
			for i, b := range h.Index {
				buckets[b] += h.Buckets[i]
			}
		}
		for _, b := range slices.Sorted(maps.Keys(buckets)) {
			x.Index, x.Buckets = append(x.Index, b), append(x.Buckets, buckets[b])
		}
		sums[k] = x
	}
	return sums
}

// check reads all levels of a store and compares.
func check(t *testing.T, m *memory, want map[Level]map[string]Row, when string) {
	t.Helper()
	for _, l := range Levels {
		if got := byKey(all(t, m, l), l); !reflect.DeepEqual(got, want[l]) {
			t.Fatalf("%s: level %s has other sums: %d rows, want %d", when, l, len(got), len(want[l]))
		}
	}
}

// settle compacts until all that may be removed has been, and looks for what should not be there.
func settle(t *testing.T, m *memory, at time.Time) {
	t.Helper()
	for _, later := range []time.Duration{0, 2 * time.Hour, 26 * time.Hour, 52 * time.Hour, 54 * time.Hour} {
		m.now = at.Add(later)
		if _, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now); err != nil {
			t.Fatal(err)
		}
	}
	if left := m.keys(freshPrefix); len(left) > 0 {
		t.Errorf("files of sessions stayed: %v", left)
	}
	named := map[string]bool{}
	for _, key := range m.keys(manifestPrefix) {
		p, _, _ := parseManifestKey(key)
		man, err := parseManifest(m.objects[key].data, p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range man.Files {
			named[man.Files[i].key(p)] = true
		}
	}
	if n := len(m.keys(manifestPrefix)); n != 2 {
		t.Errorf("%d manifests of two partitions", n)
	}
	for _, l := range Levels {
		for _, key := range m.keys(levelPrefix(l)) {
			if !named[key] {
				t.Errorf("no manifest names %s", key)
			}
		}
		if n := len(m.keys(levelPrefix(l))); n != 2 {
			t.Errorf("level %s of two partitions has %d files", l, n)
		}
	}
}

func TestCompact(t *testing.T) {
	m, want := filled(t)
	check(t, m, want, "before")
	done, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now)
	if err != nil || done.Merged != 2*someSessions*someBatches || done.Written != 6 || done.Partitions != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	check(t, m, want, "compacted")
	late := sessionRows("orders", "late", 9)
	putRows(t, m, "late", 9, late)
	var all []Row
	someFiles(func(_ string, _ int, rows []Row) { all = append(all, rows...) })
	want = expected(append(all, late...))
	check(t, m, want, "with a late file")
	if done, err = Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now); err != nil || done.Merged != 0 {
		t.Fatalf("a single file was merged at once: %+v, %v", done, err)
	}
	settle(t, m, m.now)
	check(t, m, want, "settled")
}

// TestCompactCrashes lets a pass end at each of its operations, before and after it was done; the pass also consolidates
// and removes what is old.
func TestCompactCrashes(t *testing.T) {
	t.Parallel()
	prepared, _ := filled(t)
	for range 2 { // a first pass, whose files are replaced and whose leftovers are removed
		if _, err := Compact(context.Background(), prepared, CompactOptions{Enough: 2}, prepared.now); err != nil {
			t.Fatal(err)
		}
	}
	prepared.now = prepared.now.Add(26 * time.Hour)
	var rows []Row
	someFiles(func(_ string, _ int, of []Row) { rows = append(rows, of...) })
	for _, service := range []string{"orders", "stock"} {
		late := sessionRows(service, "late", 3)
		putRows(t, prepared, "late", 3, late)
		rows = append(rows, late...)
	}
	want, at, m := expected(rows), prepared.now, prepared.clone()
	changes := map[int]bool{}
	m.after = func(n int, op, _ string) error {
		changes[n] = op != "get" && op != "list"
		return nil
	}
	if _, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, at); err != nil {
		t.Fatal(err)
	}
	operations := m.operations
	m.recover()
	check(t, m, want, "undisturbed")
	if operations < 40 {
		t.Fatalf("only %d operations", operations)
	}
	for n := 1; n <= operations; n++ {
		for _, done := range []bool{false, true} {
			if done && !changes[n] {
				continue
			}
			m := prepared.clone()
			m.crashAt(n, done)
			Compact(context.Background(), m, CompactOptions{Enough: 3}, at)
			m.recover()
			when := fmt.Sprintf("operation %d of %d, done %v", n, operations, done)
			check(t, m, want, when)
			settle(t, m, at)
			check(t, m, want, when+", settled")
		}
	}
}

// TestLostAnswers: of every put that is done, the answer is an error, once.
func TestLostAnswers(t *testing.T) {
	m, want := filled(t)
	failed := map[string]bool{}
	m.after = func(_ int, op, key string) error {
		if op == "put if absent" && !failed[key] {
			failed[key] = true
			return errors.New("no answer")
		}
		return nil
	}
	done, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now)
	if err != nil || done.Written != 6 || len(failed) != 2 {
		t.Errorf("%+v, %v; %d answers were lost", done, err, len(failed))
	}
	m.recover()
	check(t, m, want, "compacted")
	settle(t, m, m.now)
	check(t, m, want, "settled")
}

// TestTwoCompactors lets a whole pass of another compactor, whose clock differs by a minute, run at each operation of one;
// and a file of a session arrive.
func TestTwoCompactors(t *testing.T) {
	t.Parallel()
	begin, _ := filled(t)
	m := begin.clone()
	if _, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now); err != nil {
		t.Fatal(err)
	}
	operations, contested := m.operations, 0
	for n := 1; n <= operations; n++ {
		m := begin.clone()
		var rows []Row
		for _, s := range m.keys(freshPrefix) {
			f, _ := parseFresh(objectstore.Object{Key: s})
			rows = append(rows, sessionRows(f.service, f.folder, int(f.rng.From))...)
		}
		rows = append(rows, sessionRows("orders", "late", 2)...)
		want := expected(rows)
		m.before = func(i int, _, _ string) error {
			if i == n {
				m.before = nil
				putRows(t, m, "late", 2, sessionRows("orders", "late", 2))
				if _, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now.Add(time.Minute)); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		done, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now.Add(-time.Minute))
		if err != nil {
			t.Fatalf("operation %d: %v", n, err)
		}
		contested += done.Contested
		m.recover()
		check(t, m, want, fmt.Sprintf("another at operation %d", n))
		settle(t, m, m.now)
		check(t, m, want, fmt.Sprintf("another at operation %d, settled", n))
	}
	if contested == 0 {
		t.Error("no two compactors ever met")
	}
}

// TestDamagedFile: a file that cannot be read stays, is reported, and keeps nothing else from being merged.
func TestDamagedFile(t *testing.T) {
	m, _ := filled(t)
	bad := m.keys(freshPrefix)[3]
	m.objects[bad] = stored{[]byte("PAR1 not at all PAR1"), m.now}
	done, err := Compact(context.Background(), m, CompactOptions{Enough: 3}, m.now)
	if err != nil || done.Merged != 2*someSessions*someBatches-1 || len(done.Missing) != 1 || done.Missing[0].Key != bad {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, a := allBut(t, m, Day); len(a.Missing) != 1 || a.Missing[0].Key != bad {
		t.Errorf("not read: %v", a.Missing)
	}
}

// TestOverlaps: files of a session that have batches in common are not counted twice, and readers say so.
func TestOverlaps(t *testing.T) {
	m := newMemory()
	rows := sessionRows("orders", "s", 1)
	data := encoded(t, slices.Clone(rows))
	for _, r := range []store.Range{{From: 1, To: 5}, {From: 4, To: 9}} {
		m.PutIfAbsent(context.Background(), freshKey(midnight, "orders", "s", r), bytes.NewReader(data), int64(len(data)))
	}
	for _, when := range []string{"fresh", "compacted"} {
		got, a := allBut(t, m, Detail)
		if !reflect.DeepEqual(byKey(got, Detail), byKey(rows, Detail)) || len(a.Missing) != 1 || !strings.Contains(a.Missing[0].Why, "4-9") {
			t.Errorf("%s: %d rows, want %d; not read: %v", when, len(got), len(rows), a.Missing)
		}
		if _, err := Compact(context.Background(), m, CompactOptions{Enough: 1}, m.now); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzManifest(f *testing.F) {
	p := partition{"2026-03-01", "orders"}
	f.Add([]byte(`{"version":1,"id":"x","files":[{"name":"00000001-0123456789abcdef-0000.parquet","level":"day","rows":1,"bytes":9}],"covered":{"s":[[1,3]]},` +
		`"covered_files":[{"key":"rollups/fresh/date=2026-03-01/service=orders/s.1-3.parquet"}]}`))
	f.Add([]byte(`{"version":1,"id":"x","covered_files":[{"key":"sessions/manifest.json"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data, p)
		if err != nil {
			return
		}
		for i := range m.Files {
			if !ownFile(m.Files[i].key(p), p) {
				t.Errorf("file %q leads out of the partition", m.Files[i].key(p))
			}
		}
		for _, g := range m.Gone {
			if !strings.HasPrefix(g.Key, objectstore.RollupsPrefix) || !strings.Contains(g.Key, p.String()) {
				t.Errorf("covered file %q leads out of the partition", g.Key)
			}
		}
	})
}

// Who may write the roll-ups of one service must not write those of another, or of another day: such a file counts nowhere,
// and is named.
func TestForeignRows(t *testing.T) {
	m, want := filled(t)
	for key := range map[string]bool{"date=2026-03-01/service=other/": true, "date=2026-02-01/service=orders/": true} {
		var b bytes.Buffer
		if err := Write(&b, sessionRows("orders", "forged", 1)); err != nil {
			t.Fatal(err)
		}
		m.objects[freshPrefix+key+"forged.20260301.1-1.parquet"] = stored{data: b.Bytes(), modified: m.now}
	}
	for _, compacted := range []bool{false, true} {
		if compacted {
			if _, err := Compact(t.Context(), m, CompactOptions{Enough: 1, Logger: slog.New(slog.DiscardHandler)}, m.now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		for level, rows := range want {
			got, a := allBut(t, m, level)
			if len(a.Missing) != 2 || !strings.Contains(a.Missing[0].Why, "belong elsewhere") {
				t.Errorf("compacted %v, %s: %+v", compacted, level, a.Missing)
			}
			if len(byKey(got, level)) != len(rows) {
				t.Errorf("compacted %v, %s: %d rows, want %d", compacted, level, len(byKey(got, level)), len(rows))
			}
		}
	}
}

// TestWrongManifests: a highest manifest that is damaged, or that somebody else wrote, changes no sum where the one before is
// there; answers and compactions name it, and the next compactions work and clean up.
func TestWrongManifests(t *testing.T) {
	const p = manifestPrefix + "date=2026-03-01/service=orders/"
	compact := func(m *memory, later time.Duration) (*Compacted, error) {
		m.now = m.now.Add(later)
		return Compact(t.Context(), m, CompactOptions{Enough: 1}, m.now)
	}
	for name, c := range map[string]struct {
		key, content string
		said         string // in answers
		refused      string // by compactions; "": they mend it
		stays        bool   // until somebody deletes it
		wrong        bool   // the sums are
	}{
		"damaged":            {key: "00000003.json", content: "{", said: "00000002.json counts in its place"},
		"damaged, a gap":     {key: "00000077.json", content: "{", said: "00000002.json counts in its place"},
		"damaged, the last":  {key: "00999999.json", content: "{", said: "00000002.json counts in its place"},
		"sound, no number":   {key: "99999999.json", content: `{"version":1,"id":"x"}`, said: "no number above 999999", stays: true},
		"damaged, no number": {key: "99999999.json", content: "{", said: "no number above 999999", stays: true},
		"sound, a gap":       {key: "00000077.json", content: `{"version":1,"id":"x"}`, said: "does not follow 00000002.json", refused: "delete it", stays: true},
		"sound, the last":    {key: "00999999.json", content: `{"version":1,"id":"x"}`, said: "does not follow 00000002.json", refused: "delete it", stays: true},
		"a newer version":    {key: "00000003.json", content: `{"version":2,"id":"x"}`, said: "newer version", refused: "newer version", stays: true, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := filled(t)
			var rows []Row
			someFiles(func(_ string, _ int, of []Row) { rows = append(rows, of...) })
			for i := range 2 { // two manifests, and files that wait
				if _, err := compact(m, 10*time.Minute); err != nil {
					t.Fatal(err)
				}
				late := sessionRows("orders", fmt.Sprint("late-", i), 3)
				putRows(t, m, fmt.Sprint("late-", i), 3, late)
				rows = append(rows, late...)
			}
			want := expected(rows)
			m.objects[p+c.key] = stored{[]byte(c.content), m.now}
			got, a := allBut(t, m, Day)
			if len(a.Missing) != 1 || a.Missing[0].Key != p+c.key || !strings.Contains(a.Missing[0].Why, c.said) {
				t.Errorf("not read: %v", a.Missing)
			}
			if reflect.DeepEqual(byKey(got, Day), want[Day]) == c.wrong {
				t.Error("other sums")
			}
			for range 3 {
				done, err := compact(m, 26*time.Hour)
				if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) || c.refused == "" && err != nil {
					t.Fatalf("%+v, %v", done, err)
				}
			}
			if _, there := m.objects[p+c.key]; c.stays != (there && string(m.objects[p+c.key].data) == c.content) {
				t.Errorf("the wrong manifest is there: %v", there)
			}
			if c.stays {
				delete(m.objects, p+c.key)
			}
			check(t, m, want, "mended")
			settle(t, m, m.now)
			check(t, m, want, "settled")
		})
	}
}

// TestDamagedManifest: whenever the highest manifest is damaged, the sums stay the same, or the answer names it and says what
// to do.
func TestDamagedManifest(t *testing.T) {
	mended := 0
	for minutes := 0; minutes <= 200; minutes += 10 {
		m := newMemory()
		var rows []Row
		for at := 0; at <= minutes; at += 50 { // a manifest now and then, and what they no longer need goes
			late := sessionRows("orders", fmt.Sprint("s", at), 1)
			putRows(t, m, fmt.Sprint("s", at), 1, late)
			rows = append(rows, late...)
			for step := at; step < min(at+50, minutes+1); step += 10 {
				if _, err := Compact(t.Context(), m, CompactOptions{Enough: 1}, m.now); err != nil {
					t.Fatal(err)
				}
				m.now = m.now.Add(10 * time.Minute)
			}
		}
		manifests := m.keys(manifestPrefix)
		m.objects[manifests[len(manifests)-1]] = stored{nil, m.now}
		for _, when := range []string{"damaged", "compacted"} {
			got, a := allBut(t, m, Detail)
			right := reflect.DeepEqual(byKey(got, Detail), expected(rows)[Detail])
			if !right && (len(a.Missing) != 1 || !strings.Contains(a.Missing[0].Why, "Restore it from a backup")) {
				t.Errorf("%s after %d minutes: other sums, and the answer says %v", when, minutes, a.Missing)
			}
			if right && when == "damaged" && len(a.Missing) != 1 {
				t.Errorf("after %d minutes: the answer says %v", minutes, a.Missing)
			}
			if _, err := Compact(t.Context(), m, CompactOptions{Enough: 1}, m.now); right != (err == nil) {
				t.Errorf("after %d minutes: right %v, compacting: %v", minutes, right, err)
			}
			if right {
				mended++
			}
		}
	}
	if mended < 20 {
		t.Errorf("only %d sums were right", mended)
	}
}

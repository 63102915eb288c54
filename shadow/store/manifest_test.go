package store

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"stackagent/internal/wire"
)

func TestRanges(t *testing.T) {
	var r Ranges
	seen := map[uint64]bool{}
	rng := rand.New(rand.NewSource(3))
	for range 2000 {
		from := uint64(1 + rng.Intn(300))
		to := from + uint64(rng.Intn(4))
		r.Add(from, to)
		for s := from; s <= to; s++ {
			seen[s] = true
		}
		if err := r.Check(); err != nil {
			t.Fatalf("after adding %d-%d: %v in %v", from, to, err, r)
		}
		if rng.Intn(40) == 0 {
			r, seen = nil, map[uint64]bool{}
		}
		if r.Count() != uint64(len(seen)) {
			t.Fatalf("count %d, want %d", r.Count(), len(seen))
		}
		for s := uint64(1); s < 310; s++ {
			if r.Has(s) != seen[s] {
				t.Fatalf("Has(%d) = %v in %v", s, r.Has(s), r)
			}
		}
	}
	for _, bad := range []Ranges{{{0, 1}}, {{3, 2}}, {{1, 5}, {5, 6}}, {{4, 5}, {1, 2}}, {{1, 1 << 63}}} {
		if bad.Check() == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"host-12-999": true, "a.b": true, "": false, "..": false, "a/b": false, ".hidden": false,
		ManifestName: false, "a b": false, "*": false, "a\x00": false,
	} {
		if err := ValidateName(name); (err == nil) != ok || (err != nil && !errors.Is(err, ErrBadName)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, n := range []string{"executions-0-4.parquet", "executions-4-3.parquet", "executions-1-9223372036854775807.parquet",
		"executions-01-2.parquet", "other-1-2.parquet", ".tmp-executions-1-2.parquet", "executions-1-2.parquet.bak"} {
		if _, _, ok := ParsePartName(n); ok {
			t.Errorf("%s is taken for a part", n)
		}
	}
	for tab := range numTables {
		if got, r, ok := ParsePartName(PartName(tab, 7, 11)); !ok || got != tab || r != (Range{7, 11}) {
			t.Errorf("%v: %v %v %v", tab, got, r, ok)
		}
	}
}

func TestManifestRefuses(t *testing.T) {
	for text, want := range map[string]error{
		``:               ErrNoSession,
		`{}`:             ErrNoSession,
		`{"format":"x"}`: ErrNoSession,
		`{"format":"stackagent session","version":99}`:                                           ErrNewerVersion,
		`{"format":"stackagent session","version":0}`:                                            ErrNoSession,
		`{"format":"stackagent session","version":1,"session":"../x"}`:                           ErrNoSession,
		`{"format":"stackagent session","version":1,"session":"x","sequences":[[5,1]]}`:          ErrNoSession,
		`{"format":"stackagent session","version":1,"session":"x","start_ns":"soon"}`:            ErrNoSession,
		`{"format":"stackagent session","version":1,"session":"x","sequences":[[1,2]],"new":{}}`: nil,
	} {
		if _, err := ParseManifest([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func TestPromote(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	commit(t, w, sample(1, 1, 10))
	os.WriteFile(filepath.Join(w.Dir(), tmpPrefix+"x"), nil, 0o600)
	part := PartName(Executions, 1, 1) // as if an earlier Promote had been interrupted
	os.Rename(filepath.Join(w.Dir(), part), filepath.Join(root, part))
	beside := []string{besideFolder, samplesFolder}
	for _, name := range beside {
		os.Mkdir(filepath.Join(w.Dir(), name), 0o700)
	}
	if err := Promote(root, "s"); err != nil {
		t.Fatal(err)
	}
	for _, name := range beside {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("what was recorded beside did not move: %v", err)
		}
	}
	if rows, _, _ := readAll(t, root); len(rows) != 10 {
		t.Errorf("%d rows in the root", len(rows))
	}
	if _, err := ReadManifest(root); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the session's own folder is still there: %v", err)
	}
	os.Mkdir(filepath.Join(root, "s"), 0o700) // as if it had been interrupted just before its end
	if err := Promote(root, "s"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the emptied folder is still there: %v", err)
	}
	w = openWriter(t, root)
	commit(t, w, sample(1, 1, 10))
	if err := Promote(root, "s"); err == nil {
		t.Error("a second session was moved over the first")
	}
}

// Lost pauses are reported and do not upset the account of the events.
func TestLostPausesAreNoEvents(t *testing.T) {
	m := Manifest{Produced: Counts{Executions: 10}, Stored: Counts{Executions: 7}, Ended: EndedExit}
	m.Lost.ByReason = map[string]uint64{"ring full": 3, wire.LostPauses: 5}
	m.settle()
	if m.Lost.Unaccounted != 0 || m.Lost.Events != 8 {
		t.Errorf("lost: %+v, want 8 and nothing unaccounted", m.Lost)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"format":"stackagent session","version":1,"session":"x","sequences":[[1,2],[4,9]],"lost":{"by_reason":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		m.Sequences.Add(3, 5) // must hold on whatever check let through
		if !m.Sequences.HasAll(3, 5) || m.Sequences.Check() != nil {
			t.Errorf("sequences %v", m.Sequences)
		}
	})
}

package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// writePiece stores parts of session s as a shadow would.
func writePiece(t *testing.T, change func(*Manifest), parts ...*Part) string {
	t.Helper()
	w := openWriter(t, t.TempDir())
	if change != nil {
		change(&w.Manifest)
	}
	commit(t, w, parts...)
	if err := w.CommitManifest(); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func TestJoin(t *testing.T) {
	first := writePiece(t, func(m *Manifest) { m.JVM.PID = 7 }, sample(1, 3, 5), sample(4, 6, 5))
	second := writePiece(t, func(m *Manifest) {
		m.Ended = EndedExit
		m.AddPiece(Piece{Store: "a", Host: "h", Path: "/p"})
	}, sample(5, 5, 5), sample(6, 6, 5), sample(7, 9, 5)) // 5 and 6 were stored by the first, too
	out := filepath.Join(t.TempDir(), "any name")
	m, err := Join(out, []string{second, first})
	if err != nil {
		t.Fatal(err)
	}
	if m.JVM.PID != 7 || m.Ended != EndedExit || len(m.Sequences) != 1 || m.Sequences.Count() != 9 || m.Lost.Batches != 0 || len(m.Pieces) != 0 {
		t.Errorf("manifest of the whole: %+v", m)
	}
	rows, made, bad := readAll(t, out)
	whole, all, _ := readAll(t, writePiece(t, nil, sample(1, 3, 5), sample(4, 6, 5), sample(7, 9, 5)))
	if len(rows) != len(whole) || len(made) != len(all) || bad != nil {
		t.Errorf("%d executions, %d creations, damaged %v; want %d and %d", len(rows), len(made), bad, len(whole), len(all))
	}
	if m.Stored.Executions != uint64(len(whole)) {
		t.Errorf("stored %+v, want %d executions", m.Stored, len(whole))
	}
}

// What is in no piece is lost, and counted.
func TestJoinWithAGap(t *testing.T) {
	first, second := writePiece(t, nil, sample(1, 3, 5)), writePiece(t, func(m *Manifest) { m.Ended = EndedExit }, sample(6, 7, 5))
	m, err := Join(t.TempDir(), []string{first, second})
	if err != nil || m.Lost.Batches != 2 {
		t.Errorf("%v, lost %+v; want 2 batches", err, m)
	}
}

func TestJoinRefuses(t *testing.T) {
	piece := writePiece(t, nil, sample(1, 4, 5))
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"nothing":         {nil, "no folder"},
		"no session":      {[]string{piece, t.TempDir()}, "not a session"},
		"another process": {[]string{piece, writePiece(t, func(m *Manifest) { m.Process = "9-x" }, sample(5, 6, 5))}, "not pieces"},
		"overlap":         {[]string{piece, writePiece(t, nil, sample(3, 6, 5))}, "overlap"},
	} {
		_, err := Join(filepath.Join(t.TempDir(), "out"), c.dirs)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.want)
		}
	}
	if _, err := Join(piece, []string{piece}); err == nil || errors.Is(err, ErrNotPieces) || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a folder that is not empty: %v", err)
	}
}

package monitor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"stackagent/internal/parquet"
	"stackagent/internal/seal"
	"stackagent/internal/units"
)

const (
	partRows = 64 << 10 // of a part, about
	homeless = 1 << 20  // rows that are held while it is not known where they go
)

// writer writes the samples of one JVM part by part. Each part is whole on the disk or absent.
type writer struct {
	dir  string // "": not known yet
	head Head
	seq  int
	rows []Row
}

func newWriter(h Head) *writer {
	h.Version, h.Files, h.NotAvailable = Version, map[string]seal.File{}, map[string]string{}
	return &writer{head: h, rows: make([]Row, 0, partRows)}
}

// open begins to write in the folder dir, which must hold no samples yet.
func (w *writer) open(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("beginning samples: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, headName)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("beginning samples: %s holds some already", dir)
	}
	w.dir = dir
	return w.writeHead()
}

func (w *writer) writeHead() error {
	b, err := seal.JSON(w.head)
	if err != nil {
		return fmt.Errorf("encoding the samples' head: %w", err)
	}
	_, err = replace(w.dir, headName, func(f io.Writer) error { _, err := f.Write(b); return err })
	return err
}

func (w *writer) add(at units.MonoNs, monitor string, thread int32, value float64) {
	w.rows = append(w.rows, Row{int64(at), monitor, thread, value})
}

// flush stores the rows so far as a part. If that fails, they are lost, and counted.
func (w *writer) flush() error {
	switch {
	case len(w.rows) == 0:
		return nil
	case w.dir == "" && len(w.rows) <= homeless:
		return nil
	case w.dir == "":
		w.head.Dropped += int64(len(w.rows))
		w.rows = w.rows[:0]
		return nil
	}
	before := w.head.Files
	w.head.Files = maps.Clone(before)
	name := partName(w.seq)
	sum, err := replace(w.dir, name, func(f io.Writer) error { return parquet.Write(f, w.rows, Version, nil) })
	if err == nil {
		w.head.Files[name] = sum
		err = w.writeHead()
	}
	if err != nil {
		w.head.Files = before
		w.head.Dropped += int64(len(w.rows))
	} else {
		w.seq++
	}
	w.rows = w.rows[:0]
	return err
}

// close ends the samples.
func (w *writer) close() error {
	if w.dir == "" {
		return nil // nobody wanted them
	}
	err := w.flush()
	w.head.Complete = true
	return errors.Join(err, w.writeHead())
}

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

const partRows = 64 << 10 // of a part, about

// writer writes the samples of one JVM part by part. Each part is whole on the disk or absent.
type writer struct {
	dir  string
	head Head
	seq  int
	rows []Row
}

// create begins the samples in the folder dir, which must hold none.
func create(dir string, h Head) (*writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("beginning samples: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, headName)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("beginning samples: %s holds some already", dir)
	}
	h.Version, h.Files = Version, map[string]seal.File{}
	if h.NotAvailable == nil {
		h.NotAvailable = map[string]string{}
	}
	w := &writer{dir: dir, head: h, rows: make([]Row, 0, partRows)}
	return w, w.writeHead()
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
	if len(w.rows) == 0 {
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
	err := w.flush()
	w.head.Complete = true
	return errors.Join(err, w.writeHead())
}

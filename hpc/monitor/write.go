package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stackagent/internal/checksum"
	"stackagent/internal/parquet"
	"stackagent/internal/units"
)

const (
	partRows = 64 << 10 // of a part, about
	homeless = 1 << 20  // rows that are held while it is not known where they go
)

// writer writes the samples of one JVM part by part. Each part is whole on the disk or absent. Parts are written by a
// goroutine of their own, one at a time: the next samples do not wait for the disk.
type writer struct {
	dir  string // "": not known yet
	head Head   // without what the parts add
	rows []Row

	// Of the goroutine that writes a part; others look after writing.Wait.
	writing sync.WaitGroup
	seq     int
	files   map[string]checksum.File
	lost    int64 // rows of parts that could not be written
	earlier *Head // of the samples that are continued; nil: none
	err     error // the first
}

func newWriter(h Head) *writer {
	h.Version, h.NotAvailable = Version, map[string]string{}
	return &writer{head: h, rows: make([]Row, 0, partRows), files: map[string]checksum.File{}}
}

// open begins to write in the folder dir, which must hold no samples yet.
func (w *writer) open(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("beginning samples: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, headName)); !errors.Is(err, fs.ErrNotExist) {
		if err := w.resume(dir); err != nil {
			return fmt.Errorf("beginning samples: %w", err)
		}
	}
	w.dir = dir
	return w.writeHead(w.head)
}

// resume goes on after the samples of the same process in a folder: their shadow was ended, or killed.
func (w *writer) resume(dir string) error {
	r, err := openFolder(dir)
	if err != nil {
		return err
	}
	if r.head.PID != w.head.PID || r.head.IntervalNs != w.head.IntervalNs {
		return fmt.Errorf("%s holds samples of process %d, each %d ns", dir, r.head.PID, r.head.IntervalNs)
	}
	w.files, w.seq, w.earlier = r.head.Files, len(r.head.Files), &r.head
	return nil
}

// writeHead writes the head with what is known of the parts.
func (w *writer) writeHead(h Head) error {
	h.Files, h.Dropped = w.files, h.Dropped+w.lost
	if e := w.earlier; e != nil {
		h.Samples, h.Missed, h.Dropped, h.CPUNs = h.Samples+e.Samples, h.Missed+e.Missed, h.Dropped+e.Dropped, h.CPUNs+e.CPUNs
		h.Monitors = together(e.Monitors, h.Monitors)
	}
	b, err := checksum.JSON(h)
	if err != nil {
		return fmt.Errorf("encoding the samples' head: %w", err)
	}
	_, err = replace(w.dir, headName, func(f io.Writer) error { _, err := f.Write(b); return err })
	return err
}

func (w *writer) add(at units.MonoNs, monitor string, thread int32, value float64) {
	w.rows = append(w.rows, Row{int64(at), monitor, thread, value})
}

// flush begins to store the rows so far as a part. If that fails, they are lost, and counted.
func (w *writer) flush() {
	switch {
	case len(w.rows) == 0, w.dir == "" && len(w.rows) <= homeless:
		return
	case w.dir == "":
		w.head.Dropped += int64(len(w.rows))
		w.rows = w.rows[:0]
		return
	}
	w.writing.Wait()
	rows, h := w.rows, w.head
	h.Monitors, h.NotAvailable = slices.Clone(h.Monitors), maps.Clone(h.NotAvailable)
	w.rows = make([]Row, 0, partRows)
	w.writing.Go(func() { w.part(rows, h) })
}

// part stores rows, then the head that names them.
func (w *writer) part(rows []Row, h Head) {
	before := w.files
	w.files = maps.Clone(before)
	name := partName(w.seq)
	sum, err := replace(w.dir, name, func(f io.Writer) error { return parquet.Write(f, rows, Version, nil) })
	if err == nil {
		w.files[name] = sum
		err = w.writeHead(h)
	}
	if err == nil {
		w.seq++
		return
	}
	w.files, w.err = before, cmp.Or(w.err, err)
	w.lost += int64(len(rows))
}

// close ends the samples. The error is the first one of writing.
func (w *writer) close() error {
	if w.dir == "" {
		return nil // nobody wanted them
	}
	w.flush()
	w.writing.Wait()
	w.head.Complete = true
	return cmp.Or(w.err, w.writeHead(w.head))
}

// together are the declarations of both; of a monitor in both the one of the earlier samples, which says since when.
func together(earlier, later []Declaration) []Declaration {
	out := slices.Clone(earlier)
	for _, d := range later {
		i := slices.IndexFunc(out, func(e Declaration) bool { return e.Name == d.Name })
		if i < 0 {
			out = append(out, d)
		} else {
			out[i].Until = d.Until
		}
	}
	return out
}

// Refuse writes in place of samples why there are none.
func Refuse(dir string, pid int, interval time.Duration, why error) error {
	w := newWriter(Head{PID: pid, IntervalNs: units.Ns(interval)})
	w.head.NotAvailable["samples"] = why.Error()
	return cmp.Or(w.open(dir), w.close())
}

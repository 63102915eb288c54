package sched

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/internal/checksum"
	"stackagent/internal/parquet"
	"stackagent/internal/units"
)

// head is the content of record.json.
type head struct {
	Version      int               `json:"version"`
	Source       string            `json:"source"`
	PID          int               `json:"pid"`
	Complete     bool              `json:"complete"` // written at the end of the observation
	NotAvailable map[string]string `json:"not_available,omitempty"`
	Account      *Account          `json:"account,omitempty"` // with complete
	Cost         *Cost             `json:"cost,omitempty"`    // with complete

	// From version 2 on. ID distinguishes the record from others; the manifest of its session repeats it.
	ID string `json:"id,omitempty"`
	// Files are the checksums of the parts' files.
	Files map[string]checksum.File `json:"files"`
}

// sealed reports whether the head has checksums of the parts and of itself.
func (h *head) sealed() bool { return h.Version >= 2 }

// sliceRow and threadRow fix the columns of the files.
type sliceRow struct {
	Thread uint32 `parquet:"thread,delta"`
	State  uint32 `parquet:"state,delta"`
	FromNs int64  `parquet:"from_ns,delta"`
	Ns     int64  `parquet:"ns,delta"`
	Waker  uint32 `parquet:"waker,delta"` // as in Slice, like futex; records of older shadows have neither
	Futex  uint32 `parquet:"futex"`
}

type threadRow struct {
	Thread      uint32 `parquet:"thread,delta"`
	TID         int32  `parquet:"os_id,delta"`
	Name        string `parquet:"name"`
	FirstNs     int64  `parquet:"first_ns,delta"`
	LastNs      int64  `parquet:"last_ns,delta"`
	BeginSeen   bool   `parquet:"begin_seen"`
	EndSeen     bool   `parquet:"end_seen"`
	Voluntary   uint64 `parquet:"voluntary,delta"`
	Involuntary uint64 `parquet:"involuntary,delta"`
	CPUNs       *int64 `parquet:"cpu_ns"` // null: not measured
}

type gcRow struct {
	AtNs        int64  `parquet:"at_ns,delta"`
	Collector   string `parquet:"collector"`
	Cause       string `parquet:"cause"`
	Invocations int64  `parquet:"invocations,delta"`
	EntryNs     int64  `parquet:"entry_ns,delta"` // by the JVM's clock
	ExitNs      int64  `parquet:"exit_ns,delta"`
	Safepoints  int64  `parquet:"safepoints,delta"`
	SafepointNs int64  `parquet:"safepoint_ns,delta"`
	SyncNs      int64  `parquet:"sync_ns,delta"`
}

// Keys in the footer of a part of slices.
const (
	fromKey  = "stackagent.from_ns"
	toKey    = "stackagent.to_ns"
	lostKey  = "stackagent.lost"
	endedKey = "stackagent.ended_waits" // see endedWaits
)

// kind is one of the files of a part.
type kind struct {
	prefix string
	needed func(*Part) bool // nil: in every part
	write  func(io.Writer, *Part) error
}

// kinds are in the order of writing. The slices are last: they make a part whole.
var kinds = []kind{
	{prefix: threadsPrefix, write: func(f io.Writer, p *Part) error {
		return parquet.Write(f, threadRows(p.Threads), Version, nil)
	}},
	{prefix: gcPrefix, needed: func(p *Part) bool { return len(p.GC) > 0 }, write: func(f io.Writer, p *Part) error {
		return parquet.Write(f, gcRows(p.GC), Version, nil)
	}},
	{prefix: slicesPrefix, write: func(f io.Writer, p *Part) error {
		return parquet.Write(f, sliceRows(p.Slices), Version, []parquet.KeyValue{
			{Key: fromKey, Value: fmt.Sprint(int64(p.From))}, {Key: toKey, Value: fmt.Sprint(int64(p.To))}, {Key: lostKey, Value: fmt.Sprint(p.Lost)},
			{Key: endedKey, Value: endedWaits(p)},
		})
	}},
}

// ThreadRow is a thread of a part with its index in Record.Threads.
type ThreadRow struct {
	Index uint32
	Thread
}

// Part is what happened between From and To: the slices, cut at both ends, and the
// threads that changed.
type Part struct {
	From, To units.MonoNs
	Lost     uint64 // records lost in it
	Slices   []Slice
	Threads  []ThreadRow
	GC       []GCSample
}

// Writer writes a record part by part. Each part is whole on the disk or absent, so
// a crash costs what followed the last one. It is not safe for concurrent use.
type Writer struct {
	dir  string
	head head
	seq  int
	last units.MonoNs
	base uint32      // threads of the record that is continued
	owed []ThreadRow // of parts that could not be written: no other part holds these threads
}

// maxOwed bounds Writer.owed.
const maxOwed = 1 << 20

// Create starts a record in the folder dir, usually Folder in a session's folder.
// From r it takes the source, the process and what is not available. If dir holds a
// record of the same process, Create continues it: its shadow was killed, and
// another one observes on.
func Create(dir string, r Record) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("beginning a scheduling record: %w", err)
	}
	w := &Writer{dir: dir, head: head{
		Version: Version, Source: r.Source, PID: r.PID, NotAvailable: r.NotAvailable, ID: rand.Text(), Files: map[string]checksum.File{},
	}}
	if w.head.NotAvailable == nil {
		w.head.NotAvailable = map[string]string{}
	}
	if _, err := os.Lstat(filepath.Join(dir, headName)); !errors.Is(err, fs.ErrNotExist) {
		if err := w.resume(); err != nil {
			return nil, fmt.Errorf("beginning a scheduling record: %w", err)
		}
	}
	return w, w.writeHead()
}

// resume continues after the parts in the folder.
func (w *Writer) resume() error {
	r, err := openFolder(w.dir)
	if err != nil {
		return err
	}
	if r.record.PID != w.head.PID || r.complete {
		return fmt.Errorf("%s holds one of process %d already: choose another folder", w.dir, r.record.PID)
	}
	if r.torn { // new threads would get the indices of old ones
		return fmt.Errorf("%s cannot be continued: choose another folder: %w", w.dir, errors.Join(r.Damage()...))
	}
	if r.record.Source != w.head.Source {
		w.head.NotAvailable["until "+fmt.Sprint(int64(r.record.To))] = "observed by " + r.record.Source
	}
	w.base, w.last, w.seq = uint32(len(r.record.Threads)), r.record.To, r.lastSeq+1
	if r.id != "" {
		w.head.ID = r.id
	}
	w.head.Files, err = r.sums()
	return err
}

func (w *Writer) writeHead() error {
	b, err := checksum.JSON(w.head)
	if err != nil {
		return fmt.Errorf("encoding the scheduling record: %w", err)
	}
	_, err = replace(w.dir, headName, func(f io.Writer) error { _, err := f.Write(b); return err })
	return err
}

// Write stores a part and sorts its slices and threads. Parts follow each other in
// time. If a part fails, its slices are lost and its threads go into the next one.
func (w *Writer) Write(p *Part) error {
	if p.To < p.From || w.seq > 0 && p.From < w.last {
		return fmt.Errorf("a part from %d to %d after %d: parts of a scheduling record follow each other", p.From, p.To, w.last)
	}
	if w.base > 0 {
		for i := range p.Slices {
			p.Slices[i].Thread += w.base
			p.Slices[i].Waker = p.Slices[i].Waker.moved(w.base)
		}
		for i := range p.Threads {
			p.Threads[i].Index += w.base
		}
	}
	p.Threads = append(w.owed, p.Threads...)
	slices.SortFunc(p.Slices, bySliceBegin)
	slices.SortStableFunc(p.Threads, func(a, b ThreadRow) int { return compare(a.Index, b.Index) })
	if err := w.store(p); err != nil {
		w.owed = latest(p.Threads)
		return err
	}
	w.owed = nil
	w.seq++
	w.last = p.To
	return nil
}

// latest keeps the last of each thread's sorted rows.
func latest(rows []ThreadRow) []ThreadRow {
	out := rows[:0]
	for i, r := range rows {
		if i+1 == len(rows) || rows[i+1].Index != r.Index {
			out = append(out, r)
		}
	}
	return out[:min(len(out), maxOwed)]
}

// store writes the files of a part, then the head that names them.
func (w *Writer) store(p *Part) error {
	before := w.head.Files
	w.head.Files = maps.Clone(before)
	var err error
	for _, k := range kinds {
		if err == nil && (k.needed == nil || k.needed(p)) {
			err = w.file(k.prefix, func(f io.Writer) error { return k.write(f, p) })
		}
	}
	if err == nil {
		err = w.writeHead()
	}
	if err != nil {
		w.discard(before)
	}
	return err
}

// discard takes back the files of a part of which another one failed. Otherwise, if the record ends before the part is
// written anew, a reader takes them for damage.
func (w *Writer) discard(before map[string]checksum.File) {
	for name := range w.head.Files {
		if _, kept := before[name]; !kept {
			_ = os.Remove(filepath.Join(w.dir, name)) // nothing names it
		}
	}
	w.head.Files = before
}

// file writes a file of the next part and keeps its checksum.
func (w *Writer) file(prefix string, fill func(io.Writer) error) error {
	name := partName(prefix, w.seq)
	sum, err := replace(w.dir, name, fill)
	if err == nil {
		w.head.Files[name] = sum
	}
	return err
}

// Close ends the record; notAvailable is what the source did not record after all.
func (w *Writer) Close(notAvailable map[string]string) error {
	w.head.Complete = true
	if notAvailable != nil {
		w.head.NotAvailable = notAvailable
	}
	return w.writeHead()
}

// Write stores a whole record in a session's folder.
func Write(sessionDir string, r *Record, all []Slice) error {
	w, err := Create(filepath.Join(sessionDir, Folder), *r)
	if err != nil {
		return err
	}
	p := Part{From: r.From, To: r.To, Lost: r.Lost, Slices: slices.Clone(all)}
	for i, t := range r.Threads {
		p.Threads = append(p.Threads, ThreadRow{uint32(i), t})
	}
	if err := w.Write(&p); err != nil {
		return err
	}
	w.head.Account = r.Account
	return w.Close(nil)
}

func bySliceBegin(a, b Slice) int {
	switch {
	case a.From != b.From:
		return compare(a.From, b.From)
	case a.Thread != b.Thread:
		return compare(a.Thread, b.Thread)
	}
	return compare(a.To, b.To)
}

func compare[T units.MonoNs | uint32](a, b T) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

func sliceRows(all []Slice) []sliceRow {
	rows := make([]sliceRow, len(all))
	for i, s := range all {
		rows[i] = sliceRow{s.Thread, uint32(s.State), int64(s.From), int64(s.To - s.From), uint32(s.Waker), s.Futex}
	}
	return rows
}

func threadRows(all []ThreadRow) []threadRow {
	rows := make([]threadRow, len(all))
	for i, t := range all {
		name := strings.ToValidUTF8(t.Name, "\uFFFD") // the kernel cuts it between any two bytes
		rows[i] = threadRow{t.Index, t.TID, name, int64(t.First), int64(t.Last), t.BeginSeen, t.EndSeen, t.Voluntary, t.Involuntary, nil}
		if t.CPU.Measured() {
			cpu := int64(t.CPU)
			rows[i].CPUNs = &cpu
		}
	}
	return rows
}

func gcRows(all []GCSample) []gcRow {
	rows := make([]gcRow, len(all))
	for i, g := range all {
		rows[i] = gcRow{int64(g.At), g.Collector, g.Cause, g.Invocations, int64(g.Entry), int64(g.Exit), g.Safepoints, int64(g.Safepoint), int64(g.Sync)}
	}
	return rows
}

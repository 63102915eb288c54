package sched

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/internal/parquet"
	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
)

// Reader reads a record. It may be used by several goroutines.
type Reader struct {
	dir      string
	record   Record
	complete bool
	parts    []window
	gc       []string // parts of samples of the collectors
	lastSeq  int      // of the parts; -1: none
	id       string
	names    []string                 // of the files of all parts
	files    map[string]checksum.File // nil: a record of version 1, without checksums
	endings  map[uint32][]ending      // of waits beyond a part, by thread, in the order of time
	wakers   bool                     // the last part says who ended waits
	torn     bool                     // threads of some part could not be read: their numbers are unknown

	mu     sync.Mutex // guards damage, which reading slices adds to
	damage []error
	broken map[string]bool // files that are in damage
}

// window is a part of slices in time. A damaged one has no file.
type window struct {
	file     string
	from, to units.MonoNs
}

// Open reads the scheduling record in a session's folder. Without one it returns nil
// and no error. The slices stay on the disk until Each reads them.
func Open(sessionDir string) (*Reader, error) {
	r, err := openFolder(filepath.Join(sessionDir, Folder))
	if checksum.Missing(err) {
		return nil, nil
	}
	return r, err
}

// openFolder opens the record in dir itself.
func openFolder(dir string) (*Reader, error) {
	h, err := readHead(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the scheduling record: %w", err)
	}
	r := &Reader{dir: dir, complete: h.Complete, broken: map[string]bool{}, endings: map[uint32][]ending{}, record: Record{Source: h.Source, PID: h.PID, NotAvailable: h.NotAvailable, Account: h.Account, Cost: h.Cost}}
	if h.sealed() {
		r.id, r.files = h.ID, h.Files
	}
	if r.record.NotAvailable == nil {
		r.record.NotAvailable = map[string]string{}
	}
	if err := r.list(); err != nil {
		return nil, fmt.Errorf("reading the scheduling record: %w", err)
	}
	return r, nil
}

func readHead(dir string) (head, error) {
	f, _, err := checksum.OpenRegular(filepath.Join(dir, headName), maxHeadBytes, ErrDamaged)
	b, err := bounded.All(f, maxHeadBytes, err)
	if err != nil {
		return head{}, err
	}
	return parseHead(b)
}

func parseHead(b []byte) (head, error) {
	var h head
	if err := json.Unmarshal(b, &h); err != nil {
		return head{}, fmt.Errorf("%s: %w (%w)", headName, ErrDamaged, err)
	}
	switch {
	case h.Version > Version:
		return head{}, fmt.Errorf("%s: version %d: %w", headName, h.Version, ErrVersion)
	case h.Version < 1:
		return head{}, fmt.Errorf("%s: version %d: %w", headName, h.Version, ErrDamaged)
	}
	if h.sealed() || h.Files != nil || h.ID != "" {
		if err := checksum.CheckJSON(b); err != nil {
			return head{}, fmt.Errorf("%s: %w: %w", headName, ErrDamaged, err)
		}
	}
	if a := h.Account; a != nil && (a.To <= a.From || a.CPU < 0 || a.Running < 0) {
		return head{}, fmt.Errorf("%s: an account of %+v: %w", headName, *a, ErrDamaged)
	}
	if c := h.Cost; c != nil && !c.valid() {
		return head{}, fmt.Errorf("%s: a cost of %+v: %w", headName, *c, ErrDamaged)
	}
	return h, nil
}

// list finds the parts, reads the threads, and the windows from the footers.
func (r *Reader) list() error {
	entries, err := sessionfs.ReadDir(r.dir)
	if err != nil {
		return err
	}
	names := map[string]map[int]string{}
	for _, k := range kinds {
		names[k.prefix] = map[int]string{}
	}
	for _, e := range entries {
		for prefix, parts := range names {
			if seq, ok := parsePart(prefix, e.Name()); ok && e.Type().IsRegular() {
				parts[seq] = e.Name()
			}
		}
	}
	r.verify(names)
	windows := names[slicesPrefix]
	if len(windows) > maxParts {
		return fmt.Errorf("%d parts, at most %d are read: %w", len(windows), maxParts, ErrDamaged)
	}
	r.lastSeq = -1
	for _, seq := range sortedKeys(windows) {
		r.addWindow(windows[seq])
		r.lastSeq = seq
	}
	for _, parts := range names {
		for seq, name := range parts {
			if seq <= r.lastSeq {
				r.names = append(r.names, name)
			}
		}
	}
	missing := r.lastSeq + 1 - len(windows)
	// The slices are written last: a part without them was being written when the
	// shadow was killed, and the shadow that continues the record rewrites it.
	for _, seq := range sortedKeys(names[threadsPrefix]) {
		switch {
		case seq <= r.lastSeq:
			r.addThreads(names[threadsPrefix][seq])
		case r.complete:
			missing++
		}
	}
	for _, seq := range sortedKeys(names[gcPrefix]) {
		if seq <= r.lastSeq {
			r.gc = append(r.gc, names[gcPrefix][seq])
		}
	}
	if missing > 0 && r.files == nil { // otherwise verify names them
		r.damaged("", fmt.Errorf("%d parts are missing: %w", missing, ErrDamaged))
	}
	return nil
}

func sortedKeys(m map[int]string) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// addWindow takes a part's window from its footer. The states of threads between
// windows that do not touch are unknown.
func (r *Reader) addWindow(name string) {
	w := window{file: name}
	lost, ended := uint64(0), ""
	err := withPart(filepath.Join(r.dir, name), func(f *parquet.File) error {
		var from, to int64
		err := errors.Join(number(f, fromKey, &from), number(f, toKey, &to))
		if err != nil {
			return err
		}
		if text, ok := f.Lookup(lostKey); ok {
			if lost, err = strconv.ParseUint(text, 10, 64); err != nil {
				return fmt.Errorf("%s: %w", lostKey, ErrDamaged)
			}
		}
		if to < from {
			return fmt.Errorf("ends before it begins: %w", ErrDamaged)
		}
		w.from, w.to = units.MonoNs(from), units.MonoNs(to)
		ended, r.wakers = f.Lookup(endedKey) // older records have none
		return nil
	})
	n := len(r.parts)
	if err == nil && n > 0 && w.from < r.parts[n-1].to {
		err = fmt.Errorf("begins before its predecessor's end: %w", ErrDamaged)
	}
	if err != nil {
		r.damaged(name, err)
		return
	}
	if n == 0 {
		r.record.From = w.from
	} else if before := r.parts[n-1].to; before < w.from {
		r.parts = append(r.parts, window{from: before, to: w.from})
	}
	r.record.To = w.to
	r.record.Lost += lost
	r.parts = append(r.parts, w)
	if err := parseEndings(ended, len(r.parts)-1, r.endings); err != nil {
		r.damaged(name, err)
	}
}

func number(f *parquet.File, key string, n *int64) error {
	text, _ := f.Lookup(key)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%s is %q: %w", key, text, ErrDamaged)
	}
	*n = v
	return nil
}

// addThreads takes the rows of a part of threads, in the order of the parts. A later
// row of a thread replaces an earlier one.
func (r *Reader) addThreads(name string) {
	if err := eachRow(filepath.Join(r.dir, name), r.addThread); err != nil {
		r.damaged(name, err)
		r.torn = true
	}
}

// eachRow calls use for the rows of a small table.
func eachRow[T any](path string, use func(*T) error) error {
	return withPart(path, func(f *parquet.File) error { return parquet.EachRow(f, use) })
}

// GC reads what the JVM said about its collectors, in the order of time. With
// an error it returns what could be read.
func (r *Reader) GC() (all []GCSample, err error) {
	for _, name := range r.gc {
		err = errors.Join(err, eachRow(filepath.Join(r.dir, name), func(g *gcRow) error {
			if len(all) >= maxGC {
				return fmt.Errorf("%s: more than %d samples: %w", name, maxGC, ErrDamaged)
			}
			all = append(all, GCSample{units.MonoNs(g.AtNs), g.Collector, g.Cause, g.Invocations, units.Ns(g.EntryNs), units.Ns(g.ExitNs),
				g.Safepoints, units.Ns(g.SafepointNs), units.Ns(g.SyncNs)})
			return nil
		}))
	}
	return all, err
}

func (r *Reader) addThread(row *threadRow) error {
	all := &r.record.Threads
	// An index is at most one beyond the known ones: threads are numbered as they
	// appear, and each is in the first part of its life.
	if row.Thread >= maxThreads || int(row.Thread) > len(*all) && len(r.Damage()) == 0 {
		return fmt.Errorf("thread %d after %d: %w", row.Thread, len(*all), ErrDamaged)
	}
	for int(row.Thread) >= len(*all) { // those of a part that is damaged
		*all = append(*all, Thread{Name: "?", CPU: units.NotMeasured})
	}
	t := Thread{TID: row.TID, Name: row.Name, First: units.MonoNs(row.FirstNs), Last: units.MonoNs(row.LastNs),
		BeginSeen: row.BeginSeen, EndSeen: row.EndSeen, Voluntary: row.Voluntary, Involuntary: row.Involuntary, CPU: units.NotMeasured}
	if row.CPUNs != nil {
		t.CPU = units.Ns(*row.CPUNs)
	}
	(*all)[row.Thread] = t
	return nil
}

// Record is the record without the slices. Do not change it.
func (r *Reader) Record() *Record { return &r.record }

// HasWakers reports whether the record says who ended waits; those of older shadows do not.
func (r *Reader) HasWakers() bool { return r.wakers }

// Sealed reports whether the record has checksums; those of the first version have none.
func (r *Reader) Sealed() bool { return r.files != nil }

// Complete reports whether the record was ended properly. If not, what happened after
// To is missing: the shadow was killed, or still records.
func (r *Reader) Complete() bool { return r.complete }

// Damage lists what could not be read so far; damaged pages of a part show only when
// Each reads it. If slices are missing, Each yields Unknown.
func (r *Reader) Damage() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.damage)
}

// damaged notes once what is wrong with a file, or with the record ("").
func (r *Reader) damaged(file string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if file != "" {
		if r.broken[file] {
			return
		}
		r.broken[file] = true
		err = fmt.Errorf("%s: %w", file, err)
	}
	r.damage = append(r.damage, err)
}

// withPart opens a file of the record; whatever is wrong with it is an error.
func withPart(path string, use func(*parquet.File) error) error {
	f, size, err := checksum.OpenRegular(path, maxPartBytes, ErrDamaged)
	if err != nil {
		return err
	}
	defer f.Close()
	err = parquet.Read(f, size, func(pf *parquet.File) error {
		if n := pf.NumRows(); n < 0 || n > maxPartRows {
			return fmt.Errorf("%d rows: %w", n, ErrDamaged)
		}
		return use(pf)
	})
	if errors.Is(err, parquet.ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

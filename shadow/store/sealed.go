package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/checksum"
	"stackagent/internal/sessionfs"
)

// ErrDamaged is a session of which a file is missing, damaged or exchanged.
var ErrDamaged = errors.New("the session is damaged")

// sealedFrom is the version of the format from which on the manifest holds the
// checksums of all files, and its own.
const sealedFrom = 3

// Sealed reports whether the manifest holds checksums.
func (m *Manifest) Sealed() bool { return m.Version >= sealedFrom }

// OpenSession reads the manifest of the session in dir and lists the parts that
// belong to it. With damaged, a manifest that does not match its checksum is
// taken as it is, and the Folder gives what is left of damaged parts; else it
// gives an error.
func OpenSession(dir string, damaged bool) (*Folder, *Manifest, error) {
	lock := lockShared(dir) // before the manifest is read: the parts that it names stay
	f := &Folder{Dir: dir, lock: lock, Strict: !damaged}
	m, err := readManifest(dir)
	if err != nil && !(damaged && m != nil) {
		f.Close()
		return nil, nil, err
	}
	if err != nil {
		f.Damage = append(f.Damage, err)
	}
	found, err := listParts(dir)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	f.trust(m, found)
	for _, d := range f.Damage {
		if errors.Is(d, sessionfs.ErrUnreachable) {
			f.Close()
			return nil, nil, d
		}
	}
	if f.Strict && len(f.Damage) > 0 {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w: %w", dir, ErrDamaged, firstOf(f.Damage))
	}
	return f, m, nil
}

// firstOf names the first of several errors and how many there are.
func firstOf(all []error) error {
	if len(all) == 1 {
		return all[0]
	}
	return fmt.Errorf("%w (and %d more)", all[0], len(all)-1)
}

// trust takes the parts that the manifest names, and those that came after it.
func (f *Folder) trust(m *Manifest, found [numTables][]Range) {
	f.version, f.owner = m.Version, identity{session: m.Session, process: m.Process}
	if !m.Sealed() {
		f.take(found)
		return
	}
	f.files = m.Files
	var listed [numTables][]Range
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if t, r, ok := ParsePartName(name); ok {
			listed[t] = append(listed[t], r)
			continue
		}
		path := filepath.Join(f.Dir, name)
		if err := checkContent(path, m.Files[name], false); err != nil {
			f.Damage = append(f.Damage, fmt.Errorf("%s: %w", path, err))
		}
	}
	for t := range found {
		f.choose(Table(t), listed[t], found[t], m.Sequences)
	}
	f.checkBeside(m)
}

// choose decides which parts of a table belong to the session.
func (f *Folder) choose(t Table, listed, found []Range, stored Ranges) {
	var kept []Range
	for _, r := range listed {
		if slices.Contains(found, r) {
			kept = append(kept, r)
			continue
		}
		f.Damage = append(f.Damage, fmt.Errorf("%s: it is missing", f.path(t, r)))
	}
	for _, r := range found {
		switch {
		case slices.Contains(listed, r):
		case replaced(listed, r), unfinished(listed, r) && stored.HasAll(r.From, r.To):
			f.covered = append(f.covered, f.path(t, r))
		case stored.HasAll(r.From, r.To):
			f.Damage = append(f.Damage, fmt.Errorf("%s: %w: the manifest does not name it", f.path(t, r), errForeign))
		default: // stored after the manifest was written: the shadow writes it next, or was cut off
			if err := f.checkOwn(t, r); err != nil {
				f.Damage = append(f.Damage, err)
				continue
			}
			kept = append(kept, r)
		}
	}
	f.parts[t], _ = inOrder(kept)
}

// replaced says that a listed part holds what r does: r was merged into it.
func replaced(listed []Range, r Range) bool {
	return slices.ContainsFunc(listed, func(l Range) bool { return l.From <= r.From && r.To <= l.To })
}

// unfinished says that r was being made of listed parts, which count still.
func unfinished(listed []Range, r Range) bool {
	return slices.ContainsFunc(listed, func(l Range) bool { return l.From == r.From }) &&
		slices.ContainsFunc(listed, func(l Range) bool { return l.To == r.To })
}

// checkOwn holds a part that the manifest does not name against the session.
func (f *Folder) checkOwn(t Table, r Range) error {
	bad := withPart(f.path(t, r), func(pf *parquet.File, _ *int64) error { return f.checkPart(pf, t, r) })
	if bad != nil {
		return bad
	}
	return nil
}

// checkPart holds what the footer of a part says against what it should be.
func (f *Folder) checkPart(pf *parquet.File, t Table, r Range) error {
	if f.version > 0 {
		id := f.owner
		id.table, id.Range = t, r
		_, listed := f.files[PartName(t, r.From, r.To)]
		switch v := versionOf(pf); {
		case v > f.version:
			return fmt.Errorf("%w: it has version %d, the manifest %d", errForeign, v, f.version)
		case v >= identifiedFrom, f.version >= sealedFrom && !listed:
			if err := id.check(pf); err != nil {
				return err
			}
		}
	}
	return checkSchema(t, pf)
}

// verify computes the checksums of those parts of t, each once, on all processors.
func (f *Folder) verify(t Table, parts []Range) {
	f.verifying.Lock()
	defer f.verifying.Unlock()
	parts = slices.DeleteFunc(slices.Clone(parts), func(r Range) bool { _, known := f.checked(f.path(t, r)); return known })
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				path := f.path(t, parts[i])
				var wrong error
				if want, listed := f.files[filepath.Base(path)]; listed {
					wrong = checkContent(path, want, f.whole)
				}
				f.mu.Lock()
				if f.verified == nil {
					f.verified = map[string]error{}
				}
				f.verified[path] = wrong
				f.mu.Unlock()
			}
		})
	}
	group.Wait()
}

// Verify computes the checksums of all parts and gives the first of those that are damaged.
func (f *Folder) Verify() error {
	if sessionfs.Remote(f.Dir) && !f.whole {
		f.whole = true
		f.mu.Lock()
		f.verified = nil // of large parts only the size was looked at
		f.mu.Unlock()
	}
	for t := range f.parts {
		f.verify(Table(t), f.parts[t])
		for _, r := range f.parts[t] {
			path := f.path(Table(t), r)
			if wrong, _ := f.checked(path); wrong != nil {
				return (&PartError{File: path, Rows: -1, Err: wrong}).Refusal()
			}
		}
	}
	return nil
}

// checked is what is wrong with the content of a part, if its checksum was computed.
func (f *Folder) checked(path string) (wrong error, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wrong, known = f.verified[path]
	return wrong, known
}

// part runs use on a part of t whose content is that of which the manifest
// holds the checksum. Without Strict it gives what is left of another one, if it
// is this session's at all.
func (f *Folder) part(t Table, r Range, use func(*parquet.File, *int64) error) *PartError {
	path := f.path(t, r)
	wrong, known := f.checked(path)
	if !known {
		f.verify(t, slices.Concat(f.before[t], f.parts[t]))
		wrong, _ = f.checked(path)
	}
	listed := f.files[filepath.Base(path)]
	if wrong != nil && (f.Strict || errors.Is(wrong, sessionfs.ErrUnreachable)) {
		return &PartError{File: path, Rows: listed.Rows, Err: unlessUnreachable(wrong)}
	}
	var read int64
	bad := withPart(path, func(pf *parquet.File, done *int64) error {
		defer func() { read = *done }()
		if err := f.checkPart(pf, t, r); err != nil {
			return err
		}
		return use(pf, done)
	})
	if bad == nil && wrong != nil {
		return &PartError{File: path, Rows: max(0, listed.Rows-read), Err: wrong, done: read}
	}
	return bad
}

// checkContent compares a file with the manifest: its checksum, of a large one in an object store only its size unless
// whole is set. The error does not name the file.
func checkContent(path string, want checksum.File, whole bool) error {
	file, err := sessionfs.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is missing")
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if whole {
		return want.CheckWhole(file)
	}
	return want.CheckFile(path, file)
}

// sumOf is the checksum of a file as it is.
func sumOf(path string) (checksum.File, error) {
	file, err := sessionfs.Open(path)
	if err != nil {
		return checksum.File{}, err
	}
	defer file.Close()
	return checksum.Of(file)
}

// SealBeside puts the checksums of files that others than the store have
// written into the session in dir into its manifest. Names of files that are
// not there are passed over.
func SealBeside(dir string, names ...string) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return fmt.Errorf("sealing the files beside a session: %w", err)
	}
	if !m.Sealed() {
		return nil
	}
	m.Files = maps.Clone(m.Files)
	for _, name := range names {
		sum, err := sumOf(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sealing the files beside a session: %w", err)
		}
		if m.Files == nil {
			m.Files = map[string]checksum.File{}
		}
		m.Files[name] = sum
	}
	return m.write(dir)
}

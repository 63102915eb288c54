package sched

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stackagent/internal/checksum"
)

// verify compares the files of a record with the checksums in its head, on all
// processors, and takes those out of names, by prefix and number, that cannot
// be believed. Files newer than the head stay, unless the
// record was ended.
func (r *Reader) verify(names map[string]map[int]string) {
	if r.files == nil {
		return
	}
	there := map[string]bool{}
	last := -1 // number of the last part that the head names
	for prefix, parts := range names {
		for seq, name := range parts {
			there[name] = true
			if _, listed := r.files[name]; listed && prefix == slicesPrefix {
				last = max(last, seq)
			}
		}
	}
	wrong := r.mismatched(there)
	for prefix, parts := range names {
		for _, seq := range slices.Sorted(maps.Keys(parts)) {
			name := parts[seq]
			_, listed := r.files[name]
			err := wrong[name]
			if !listed && (r.complete || seq <= last) {
				err = fmt.Errorf("it is not a part of this record: %w", ErrDamaged)
			}
			if err == nil {
				continue
			}
			r.damaged(name, err)
			delete(parts, seq)
			r.torn = r.torn || prefix == threadsPrefix
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if !there[name] {
			r.damaged(name, fmt.Errorf("the file is missing: %w", ErrDamaged))
			r.torn = r.torn || strings.HasPrefix(name, threadsPrefix)
		}
	}
}

// mismatched are the files of a record whose content is another.
func (r *Reader) mismatched(there map[string]bool) map[string]error {
	wrong := map[string]error{}
	var mu sync.Mutex
	work := make(chan string)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(there)) {
		group.Go(func() {
			for name := range work {
				if err := r.check(name); err != nil {
					mu.Lock()
					wrong[name] = err
					mu.Unlock()
				}
			}
		})
	}
	for name := range there {
		if _, listed := r.files[name]; listed {
			work <- name
		}
	}
	close(work)
	group.Wait()
	return wrong
}

func (r *Reader) check(name string) error {
	path := filepath.Join(r.dir, name)
	f, _, err := checksum.OpenRegular(path, maxPartBytes, ErrDamaged)
	if err == nil {
		defer f.Close()
		err = r.files[name].CheckFile(path, f)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

func (r *Reader) sum(name string) (checksum.File, error) {
	f, _, err := checksum.OpenRegular(filepath.Join(r.dir, name), maxPartBytes, ErrDamaged)
	if err != nil {
		return checksum.File{}, err
	}
	defer f.Close()
	return checksum.Of(f)
}

// sums are the checksums of all files, also of those that the head does not name.
func (r *Reader) sums() (map[string]checksum.File, error) {
	all := map[string]checksum.File{}
	for _, name := range r.names {
		sum, listed := r.files[name]
		if !listed {
			var err error
			if sum, err = r.sum(name); err != nil {
				return nil, err
			}
		}
		all[name] = sum
	}
	return all, nil
}

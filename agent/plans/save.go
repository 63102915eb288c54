package plans

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Save adds the new entries to the file. If another JVM is saving, they wait.
func (s *Store) Save() error {
	s.mu.Lock()
	if s.saving || len(s.fresh) == 0 {
		s.mu.Unlock()
		return nil
	}
	s.saving = true
	all := maps.Clone(s.fresh)
	s.mu.Unlock()
	saved, err := s.merge(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saving = false
	if saved == nil {
		return err
	}
	s.saved = saved // the old file is closed when nobody reads it any more
	for k, content := range s.fresh {
		if _, ok := saved.find(k); ok {
			delete(s.fresh, k)
			s.bytes -= len(content)
		}
	}
	return err
}

// merge writes a file of all, the new entries, and of what the file has now, which another JVM may have written. nil
// without an error: another JVM is saving.
func (s *Store) merge(all map[Key][]byte) (*file, error) {
	lock, err := os.Open(s.folder)
	if err != nil {
		return nil, fmt.Errorf("save plans: %w", err)
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil, nil
	}
	if old, err := s.open(); err == nil {
		addAll(all, old)
		_ = old.f.Close()
	}
	if err := s.write(all); err != nil {
		return nil, fmt.Errorf("save plans: %w", err)
	}
	tidy(s.folder)
	return s.open()
}

// addAll adds the entries of a file as far as there is room.
func addAll(all map[Key][]byte, old *file) {
	size := headerSize
	for _, content := range all {
		size += entrySize + len(content)
	}
	for i := range old.entries() {
		e := old.entry(i)
		size += entrySize + int(e.length())
		if size > MaxFileBytes || len(all) >= maxEntries {
			break
		}
		if content := old.content(e); content != nil && all[e.key()] == nil {
			all[e.key()] = content
		}
	}
}

// write puts a file of the entries in the place of the old one.
func (s *Store) write(all map[Key][]byte) error {
	f, err := os.CreateTemp(s.folder, unfinished+"*") // mode 0600
	if err != nil {
		return err
	}
	err = errors.Join(s.fill(f, all), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func (s *Store) fill(f io.Writer, all map[Key][]byte) error {
	keys := byKey(all)
	index := make([]byte, 0, entrySize*len(keys))
	at := headerSize + entrySize*len(keys)
	for _, k := range keys {
		sum := contentSum(all[k])
		index = append(index, k[:]...)
		index = binary.LittleEndian.AppendUint32(index, uint32(at))
		index = binary.LittleEndian.AppendUint32(index, uint32(len(all[k])))
		index = append(index, sum[:]...)
		at += len(all[k])
	}
	w := bufio.NewWriterSize(f, 1<<16)
	_, _ = w.Write(s.header(index)) // Flush returns the first error
	_, _ = w.Write(index)
	for _, k := range keys {
		_, _ = w.Write(all[k])
	}
	return w.Flush()
}

func (s *Store) header(index []byte) []byte {
	head := append(make([]byte, 0, headerSize), magic...)
	head = append(head, s.version[:]...)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(index)/entrySize))
	head = binary.LittleEndian.AppendUint32(head, 0)
	sum := indexSum(head, index)
	return append(head, sum[:]...)
}

// tidy deletes the oldest files of a folder that has too many, and what a JVM left that was killed.
func tidy(folder string) {
	list, _ := os.ReadDir(folder)
	var files []os.FileInfo
	for _, e := range list {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), unfinished): // the lock is held: nobody is writing it
			_ = os.Remove(filepath.Join(folder, e.Name()))
		case strings.HasSuffix(e.Name(), suffix):
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range files[min(len(files), maxFiles):] {
		_ = os.Remove(filepath.Join(folder, info.Name()))
	}
}

// Package plans keeps what weaving gave, from one JVM to the next: a file of entries, found by a key. It knows nothing
// of classes.
//
// A file is never changed: Save writes a new one and renames it, so that any number of JVMs may read and write at once.
// Each entry has a checksum. What is damaged, foreign or too large is ignored, and computed again by the caller.
//
//	header   magic 16, version 16, number of entries 4, unused 4, checksum of header and index 8
//	index    entries of 32 bytes, ascending by key: key 16, offset 4, length 4, checksum of the content 8
//	content
package plans

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// Key names an entry: the beginning of a SHA-256 of everything that the content depends on.
type Key [16]byte

// Bounds.
const (
	MaxFileBytes  = 32 << 20
	MaxEntryBytes = 256 << 10
	maxEntries    = 1 << 15
	maxFiles      = 4       // of a folder: other versions and options of the agent
	manyBytes     = 4 << 20 // unsaved
)

const (
	magic      = "stackagent plans"
	suffix     = ".plans"
	unfinished = "new-" // of the name of a file that is being written
	headerSize = 48
	entrySize  = 32
)

// Version distinguishes files whose entries do not fit each other.
type Version [16]byte

// DefaultFolder is where this user's agents keep their files unless configured otherwise.
func DefaultFolder() string {
	return filepath.Join(os.TempDir(), "stackagent-plans-"+strconv.Itoa(os.Getuid()))
}

// Store is the file of one version, and what is new. It is safe for use by several goroutines.
type Store struct {
	folder  string
	version Version

	mu     sync.Mutex
	saved  *file // nil: there is none
	fresh  map[Key][]byte
	bytes  int // of fresh
	saving bool
}

// file is an open file with a checked index.
type file struct {
	f     *os.File
	index []byte
}

// Open makes the folder, private to this user, or checks an existing one, and reads the index of the version's file.
func Open(folder string, version Version) (*Store, error) {
	if err := prepare(folder); err != nil {
		return nil, err
	}
	s := &Store{folder: folder, version: version, fresh: make(map[Key][]byte)}
	s.saved, _ = s.open() // without a usable file it begins anew
	return s, nil
}

func prepare(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("folder for plans: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("folder for plans: %w", err)
	}
	if !info.IsDir() || !own(info) {
		return fmt.Errorf("folder for plans: %s must be a folder of this user that nobody else may enter: chmod 700 it, or name another one", folder)
	}
	return nil
}

// own reports whether a file belongs to this user, and nobody else may use it.
func own(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

func (s *Store) path() string { return filepath.Join(s.folder, fmt.Sprintf("%x%s", s.version, suffix)) }

func (s *Store) open() (*file, error) {
	f, err := os.OpenFile(s.path(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	index, err := s.readIndex(f)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &file{f, index}, nil
}

var errDamaged = errors.New("damaged, or of another version")

func (s *Store) readIndex(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !own(info) || info.Size() > MaxFileBytes {
		return nil, errDamaged
	}
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[32:])
	if string(head[:16]) != magic || !bytes.Equal(head[16:32], s.version[:]) || n > maxEntries {
		return nil, errDamaged
	}
	index := make([]byte, entrySize*n)
	if _, err := f.ReadAt(index, headerSize); err != nil {
		return nil, err
	}
	if sum := indexSum(head, index); !bytes.Equal(sum[:], head[40:48]) {
		return nil, errDamaged
	}
	return index, nil
}

func indexSum(head, index []byte) [8]byte {
	h := sha256.New()
	h.Write(head[:40])
	h.Write(index)
	return [8]byte(h.Sum(nil))
}

func contentSum(content []byte) [8]byte {
	sum := sha256.Sum256(content)
	return [8]byte(sum[:])
}

// entry is one of an index.
type entry []byte

func (e entry) key() Key       { return Key(e) }
func (e entry) offset() uint32 { return binary.LittleEndian.Uint32(e[16:]) }
func (e entry) length() uint32 { return binary.LittleEndian.Uint32(e[20:]) }

func (f *file) entries() int      { return len(f.index) / entrySize }
func (f *file) entry(i int) entry { return f.index[i*entrySize:][:entrySize] }
func (f *file) find(k Key) (int, bool) {
	low, high := 0, f.entries()
	for low < high {
		middle := (low + high) / 2
		if bytes.Compare(f.entry(middle)[:16], k[:]) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < f.entries() && f.entry(low).key() == k
}

// content reads what an entry stands for; nil: it is damaged.
func (f *file) content(e entry) []byte {
	if e.length() > MaxEntryBytes {
		return nil
	}
	content := make([]byte, e.length())
	if _, err := f.f.ReadAt(content, int64(e.offset())); err != nil {
		return nil
	}
	if sum := contentSum(content); !bytes.Equal(sum[:], e[24:32]) {
		return nil
	}
	return content
}

// Get returns the content of an entry, nil if there is none.
func (s *Store) Get(k Key) []byte {
	s.mu.Lock()
	content, saved := s.fresh[k], s.saved
	s.mu.Unlock()
	if content != nil || saved == nil {
		return content
	}
	i, ok := saved.find(k)
	if !ok {
		return nil
	}
	return saved.content(saved.entry(i))
}

// Put adds an entry. It keeps content.
func (s *Store) Put(k Key, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(content) == 0 || len(content) > MaxEntryBytes || s.bytes >= 2*manyBytes || s.fresh[k] != nil {
		return
	}
	s.fresh[k] = content
	s.bytes += len(content)
}

// Unsaved is how many entries wait for Save; many: they take so much memory that it should not wait.
func (s *Store) Unsaved() (n int, many bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fresh), s.bytes >= manyBytes
}

// byKey sorts the keys of m.
func byKey(m map[Key][]byte) []Key {
	keys := make([]Key, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(string(a[:]), string(b[:])) })
	return keys
}

package ownership

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/internal/bounded"
	"stackagent/internal/sessionfs"
)

// HomeName is the folder in a store that holds what its shadows agree on; the
// leading dot distinguishes it from session folders.
const HomeName = ".shadows"

const (
	storeIDFile = "store-id"
	slotPrefix  = "shadow-"
	foldersLock = "folders.lock"
	fenceFolder = "owners"
	stemFolder  = "stems" // of the locks of LockFoldersOf
	stemLocks   = 64      // the stems share them
	maxSlots    = 64      // shadows that use one store at once
	idBytes     = 8
)

// Home is a shadow's identity in a store and the locks that it shares with other
// shadows of the store, also over NFS (version 4; flock must work).
type Home struct {
	// ID is the shadow's own. A shadow that restarts in a store takes over the id of a dead one, and with it
	// the sessions, at once: the lock on the id's file shows that nobody else has it.
	ID string
	// Store distinguishes stores: two shadows with equal ones see the same files.
	Store string

	dir  string
	slot *os.File
}

// OpenHome takes a free id in the store at root, or makes one.
func OpenHome(root string) (*Home, error) {
	h := &Home{dir: filepath.Join(root, HomeName)}
	for _, folder := range []string{fenceFolder, stemFolder} {
		if err := os.MkdirAll(filepath.Join(h.dir, folder), 0o700); err != nil {
			return nil, fmt.Errorf("ownership: making the shadows' folder of the store: %w", err)
		}
	}
	unlock, err := lockFile(filepath.Join(h.dir, foldersLock), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if h.Store, err = h.storeID(); err != nil {
		return nil, err
	}
	for n := 1; n <= maxSlots; n++ {
		taken, err := h.takeSlot(filepath.Join(h.dir, slotPrefix+strconv.Itoa(n)))
		if err != nil {
			return nil, err
		}
		if taken {
			return h, nil
		}
	}
	return nil, fmt.Errorf("ownership: %d shadows use the store %s already, no more are allowed; choose another", maxSlots, root)
}

// Close releases the id for the next shadow.
func (h *Home) Close() { h.slot.Close() }

// storeID reads or makes the store's id. The caller holds the folder's lock.
func (h *Home) storeID() (string, error) {
	path := filepath.Join(h.dir, storeIDFile)
	id, err := readID(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	id = newID()
	if err := os.WriteFile(path, []byte(id), 0o600); err != nil {
		return "", fmt.Errorf("ownership: writing the store's id: %w", err)
	}
	return id, nil
}

// takeSlot locks an id's file if nobody has it.
func (h *Home) takeSlot(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return false, fmt.Errorf("ownership: the shadow's id: %w", err)
	}
	if err := sessionfs.Flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return false, fmt.Errorf("ownership: locking %s: %w; the store must be on a file system with locks", path, err)
	}
	id, err := readID(path)
	if err != nil { // new, or half written
		id = newID()
		if _, err := f.WriteAt([]byte(id), 0); err != nil {
			f.Close()
			return false, fmt.Errorf("ownership: writing the shadow's id: %w", err)
		}
	}
	h.ID, h.slot = id, f
	return true, nil
}

// LockFolders keeps all shadows of the store from choosing a session's folder meanwhile.
func (h *Home) LockFolders() (unlock func(), err error) {
	return lockFile(filepath.Join(h.dir, foldersLock), unix.LOCK_EX)
}

// LockFoldersOf keeps all shadows of the store from choosing folders meanwhile for sessions of the same stem. Those of other
// stems do not wait, so that thousands of sessions that begin at once do not wait for the disk one after another.
func (h *Home) LockFoldersOf(stem string) (unlock func(), err error) {
	all, err := lockFile(filepath.Join(h.dir, foldersLock), unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	hash := fnv.New32a()
	hash.Write([]byte(stem))
	own, err := lockFile(filepath.Join(h.dir, stemFolder, strconv.Itoa(int(hash.Sum32()%stemLocks))), unix.LOCK_EX)
	if err != nil {
		all()
		return nil, err
	}
	return func() { own(); all() }, nil
}

func newID() string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}

func readID(path string) (string, error) {
	data, err := bounded.ReadFile(path, 1024)
	if err != nil {
		return "", fmt.Errorf("ownership: reading an id: %w", err)
	}
	id := strings.TrimSpace(string(data))
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != idBytes {
		return "", fmt.Errorf("ownership: %s holds no id of %d hexadecimal digits; remove it", path, 2*idBytes)
	}
	return id, nil
}

// lockFile locks path as flock's how says.
func lockFile(path string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ownership: lock: %w", err)
	}
	if err := sessionfs.Flock(f, how); err != nil {
		f.Close()
		return nil, fmt.Errorf("ownership: locking %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// Remove takes the shadows' folder out of a store, unless a shadow uses it.
func Remove(root string) error {
	dir := filepath.Join(root, HomeName)
	slots, err := filepath.Glob(filepath.Join(dir, slotPrefix+"*"))
	if err != nil {
		return fmt.Errorf("ownership: %w", err)
	}
	for _, path := range slots {
		unlock, err := lockFile(path, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("ownership: removing the shadows' folder: %w", err)
	}
	return nil
}

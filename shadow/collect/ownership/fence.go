package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stackagent/internal/sessionfs"
)

// Epoch orders the owners of a session: a later one has a larger epoch.
type Epoch struct {
	Bucket   int64  `json:"bucket"`   // when the bus's table of leases was made, Unix nanoseconds
	Revision uint64 `json:"revision"` // of the lease in it
}

func (e Epoch) before(o Epoch) bool {
	return e.Bucket < o.Bucket || e.Bucket == o.Bucket && e.Revision < o.Revision
}

// ErrBusyFolder is returned while another shadow writes.
var ErrBusyFolder = errors.New("another shadow is writing into this session")

// Fence guards a session's folder in a store that several shadows write to. The
// epoch of its owner is kept beside it. A shadow that finds a later epoch than its
// own has lost the session, however long it slept. One lock covers check and write.
type Fence struct {
	path  string
	epoch Epoch
}

// Fence is the fence around a session's folder for an owner of that epoch.
func (h *Home) Fence(folder string, epoch Epoch) *Fence {
	return &Fence{path: filepath.Join(h.dir, fenceFolder, folder), epoch: epoch}
}

// Do runs write unless a later owner has been here. It does not wait for a shadow that is writing.
func (f *Fence) Do(write func() error) error {
	return f.locked(func(file *os.File) error {
		latest, err := readEpoch(file)
		switch {
		case err != nil:
			return err
		case f.epoch.before(latest):
			return fmt.Errorf("ownership: %w (its folder belongs to a later owner)", ErrLost)
		case latest.before(f.epoch):
			if err := writeEpoch(file, f.epoch); err != nil {
				return err
			}
		}
		return write()
	})
}

// Close runs write, whoever the last owner was. It closes a folder whose session has moved to another store.
func (f *Fence) Close(write func() error) error {
	return f.locked(func(*os.File) error { return write() })
}

func (f *Fence) locked(use func(*os.File) error) error {
	for {
		file, err := f.lock()
		if err != nil {
			return err
		}
		if linked(file) {
			defer file.Close()
			return use(file)
		}
		file.Close() // it was removed before we had the lock: the next owner makes another
	}
}

func (f *Fence) lock() (*os.File, error) {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ownership: the session's fence: %w", err)
	}
	if err := sessionfs.Flock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("ownership: %w (%s is locked)", ErrBusyFolder, f.path)
		}
		return nil, fmt.Errorf("ownership: locking the session's fence: %w", err)
	}
	return file, nil
}

// linked reports whether an open file still has its name. If that cannot be found out, it is assumed.
func linked(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) != nil || st.Nlink > 0
}

// RemoveFences removes the fences of sessions whose folders were removed from the store at root.
func (h *Home) RemoveFences(root string) error {
	entries, err := os.ReadDir(filepath.Join(h.dir, fenceFolder))
	if err != nil {
		return fmt.Errorf("ownership: looking at the sessions' fences: %w", err)
	}
	for _, e := range entries {
		if !absent(filepath.Join(root, e.Name())) {
			continue
		}
		f := h.Fence(e.Name(), Epoch{})
		err := f.locked(func(*os.File) error {
			if !absent(filepath.Join(root, e.Name())) { // it was made under the lock that we have now
				return nil
			}
			return os.Remove(f.path)
		})
		if err != nil && !errors.Is(err, ErrBusyFolder) {
			return fmt.Errorf("ownership: removing the fence of a session that is gone: %w", err)
		}
	}
	return nil
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func readEpoch(f *os.File) (Epoch, error) {
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return Epoch{}, fmt.Errorf("ownership: reading the session's fence: %w", err)
	}
	var e Epoch
	if json.Unmarshal(data, &e) != nil {
		return Epoch{}, nil // new, or torn by a crash of the machine
	}
	return e, nil
}

func writeEpoch(f *os.File, e Epoch) error {
	data, err := json.Marshal(e)
	if err == nil {
		_, err = f.WriteAt(data, 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("ownership: writing the session's fence: %w", err)
	}
	return nil
}

package upload

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/shadow/store/objectstore"
)

// stateName is the file in a session's folder that says what of it is in the store. Without it everything is put again,
// under another name.
const stateName = ".upload.json"

// maxStateBytes bounds what is read of it.
const maxStateBytes = 64 << 20

// state is what of a session is in the store.
type state struct {
	Store  string                   `json:"store"`            // its address
	Mark   string                   `json:"mark"`             // ours, in the claim
	Name   string                   `json:"name"`             // of the session in the store
	Prefix string                   `json:"prefix,omitempty"` // of its keys; "": not claimed yet
	Files  map[string]checksum.File `json:"files"`            // that are there; of some only the size is known, and when they were changed
	// Manifest is the checksum of the manifest that is there, Put when it was put, Whole that it is the last one.
	Manifest string    `json:"manifest,omitempty"`
	Put      time.Time `json:"put,omitzero"`
	Whole    bool      `json:"whole,omitempty"`
	Rolled   time.Time `json:"rolled,omitzero"` // when what came was summed up last
	// Replaced are files that the manifest no longer names, and since when.
	Replaced map[string]time.Time `json:"replaced,omitempty"`
}

// readState reads what is known of a session; where nothing is, it begins.
func readState(root *os.Root, store string) (*state, error) {
	f, err := root.OpenFile(stateName, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	data, err := bounded.All(f, maxStateBytes, err)
	if errors.Is(err, fs.ErrNotExist) {
		return newState(store), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is uploaded: %w", err)
	}
	s := new(state)
	if json.Unmarshal(data, s) != nil || s.Store != store || s.Mark == "" { // torn by a crash of the machine, or of another store
		return newState(store), nil
	}
	if s.Files == nil {
		s.Files = map[string]checksum.File{}
	}
	if s.Replaced == nil {
		s.Replaced = map[string]time.Time{}
	}
	return s, nil
}

func newState(store string) *state {
	var mark [16]byte
	_, _ = rand.Read(mark[:]) // never fails: crypto/rand ends the process instead
	return &state{Store: store, Mark: hex.EncodeToString(mark[:]), Files: map[string]checksum.File{}, Replaced: map[string]time.Time{}}
}

// write keeps the state in the session's folder.
func (s *state) write(root *os.Root) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keeping what is uploaded: %w", err)
	}
	const tmp = checksum.TmpPrefix + "upload.json"
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = root.Rename(tmp, stateName)
	}
	if err != nil {
		return fmt.Errorf("keeping what is uploaded: %w", err)
	}
	return nil
}

// claimName is the object that gives a name in the store to one session. Two shadows may have sessions of one name, and
// what comes late of a session that is gone from the disk makes another one.
const claimName = "claim.json"

// mostNames bounds the names that are tried.
const mostNames = 1000

// claim finds a name for the session. The mark is on the disk before, so that a claim whose answer was lost is known again.
func (s *state) claim(ctx context.Context, to objectstore.Store, root *os.Root, folder string, prefix func(name string) string) error {
	if s.Prefix != "" {
		return nil
	}
	if err := s.write(root); err != nil {
		return err
	}
	content := s.mark()
	for n := 1; n <= mostNames; n++ {
		s.Name = folder
		if n > 1 {
			s.Name = fmt.Sprintf("%s-%d", folder, n)
		}
		at := prefix(s.Name)
		err := to.PutIfAbsent(ctx, at+claimName, bytes.NewReader(content), int64(len(content)))
		if errors.Is(err, objectstore.ErrExists) {
			var theirs []byte
			theirs, err = read(ctx, to, at+claimName, 4096)
			if err == nil && !bytes.Equal(theirs, content) || errors.Is(err, objectstore.ErrNotFound) {
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("claiming a name in the store: %w", err)
		}
		s.Prefix = at
		return s.write(root)
	}
	return fmt.Errorf("claiming a name in the store: %d sessions have the name %s", mostNames, folder)
}

// mark is what the claim says.
func (s *state) mark() []byte { return fmt.Appendf(nil, `{"mark":%q}`, s.Mark) }

// claimed reports whether the store has the claim still, and it is ours.
func (s *state) claimed(ctx context.Context, from objectstore.Store) (bool, error) {
	content, err := read(ctx, from, s.Prefix+claimName, 4096)
	if errors.Is(err, objectstore.ErrNotFound) {
		return false, nil
	}
	return bytes.Equal(content, s.mark()), err
}

// read reads a small object.
func read(ctx context.Context, from objectstore.Store, key string, most int64) ([]byte, error) {
	body, _, err := from.GetRange(ctx, key, 0, most)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(io.LimitReader(body, most))
}

// lock takes a lock that ends with the process.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

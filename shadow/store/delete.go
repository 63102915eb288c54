package store

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// deletedPrefix begins the names of sessions on their way out. The leading dot hides them from every listing.
const deletedPrefix = ".deleted-"

// ErrInUse is returned for a session that somebody reads or writes at the moment.
var ErrInUse = errors.New("the session is in use")

// Delete removes a session's folder from the store. It takes another name first, so that a crash leaves a whole
// session or none that anybody sees; Sweep removes the rest. A folder that is no session stays.
func Delete(store *os.Root, folder string) error {
	if err := CheckSession(store, folder); err != nil {
		return err
	}
	var mark [8]byte
	_, _ = rand.Read(mark[:]) // never fails: crypto/rand ends the process instead
	aside := deletedPrefix + hex.EncodeToString(mark[:])
	var err error
	if !whileUnread(filepath.Join(store.Name(), folder), func() { err = store.Rename(folder, aside) }) {
		return fmt.Errorf("%w: another process reads %s; try again when it is done", ErrInUse, folder)
	}
	if err != nil {
		return fmt.Errorf("moving the session %s out of the way: %w", folder, err)
	}
	if err := store.RemoveAll(aside); err != nil {
		return fmt.Errorf("removing the files of the session %s: %w", folder, err)
	}
	return nil
}

// Sweep removes what a crash has left of deleted sessions.
func Sweep(store *os.Root) error {
	dir, err := store.Open(".")
	if err != nil {
		return fmt.Errorf("looking for deleted sessions: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("looking for deleted sessions: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, deletedPrefix) {
			err = errors.Join(err, store.RemoveAll(name))
		}
	}
	return err
}

// CheckSession returns why folder is no session of the store. A session whose manifest is damaged is one if it
// holds a part: manifest.json is the name of other programs' files too.
func CheckSession(store *os.Root, folder string) error {
	if folder != path.Base(folder) || strings.HasPrefix(folder, ".") {
		return fmt.Errorf("%w: %.80q names no folder of the store", ErrNoSession, folder)
	}
	info, err := store.Lstat(folder)
	if err != nil {
		return fmt.Errorf("looking for the session: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is a %v", ErrNoSession, folder, info.Mode().Type())
	}
	f, err := store.OpenFile(path.Join(folder, ManifestName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("%s: %w: no %s can be read in it (%w)", folder, ErrNoSession, ManifestName, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: its %s is no file", folder, ErrNoSession, ManifestName)
	}
	var head struct {
		Format string `json:"format"`
	}
	if json.NewDecoder(io.LimitReader(f, maxManifestBytes)).Decode(&head) == nil {
		if head.Format != Format {
			return fmt.Errorf("%s: %w: its %s is of another program", folder, ErrNoSession, ManifestName)
		}
		return nil
	}
	return holdsPart(store, folder)
}

func holdsPart(store *os.Root, folder string) error {
	dir, err := store.Open(folder)
	if err != nil {
		return fmt.Errorf("looking into %s: %w", folder, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("looking into %s: %w", folder, err)
	}
	for _, name := range names {
		if _, _, ok := ParsePartName(name); ok {
			return nil
		}
	}
	return fmt.Errorf("%s: %w: neither its %s nor any other file is a session's", folder, ErrNoSession, ManifestName)
}

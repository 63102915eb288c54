package store

import (
	"errors"
	"os"
	"syscall"

	"stackagent/internal/sessionfs"
)

// A reader lists the parts of a session and opens them one after another, for
// minutes perhaps, while a shadow merges small ones. So a reader holds a shared
// lock on the folder, and merged parts are taken away only while nobody does.

// lockShared holds the folder against that; nil where it cannot be locked (a
// file system without locks): a reader may then miss a part and say so.
func lockShared(dir string) *os.File {
	if sessionfs.Remote(dir) {
		return nil // what an object store holds is not merged
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // listing says why
	}
	if sessionfs.Flock(d, syscall.LOCK_SH) != nil {
		d.Close()
		return nil
	}
	return d
}

// whileUnread runs remove unless a reader holds the folder; ran says that it did.
func whileUnread(dir string, remove func()) (ran bool) {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	if errors.Is(sessionfs.Flock(d, syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return false
	}
	remove()
	return true
}

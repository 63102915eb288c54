package session

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// TestForbidden: a session of another user names the remedy, and not the system call.
func TestForbidden(t *testing.T) {
	err := cannotOpen("/their/s", &fs.PathError{Op: "stat", Path: "/their/s/manifest.json", Err: fs.ErrPermission})
	if want := "opening a session: /their/s: permission denied; a session is private to the user who recorded it; read it as that user or as root"; err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Error("the cause is lost")
	}
	if err := cannotOpen("/s", fs.ErrInvalid); !strings.HasSuffix(err.Error(), fs.ErrInvalid.Error()) {
		t.Error(err)
	}
}

package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/units"
)

// leastSpace is the free space without which a session is not begun, bytes.
const leastSpace = 64 << 20

// folderTime is the layout of the time in the name of a default folder.
const folderTime = "20060102-150405"

// sessionFolder makes the folder for a run. It must be new or empty, so that
// nothing is mixed or overwritten. remove takes it away again if it was made
// here and is still empty.
func sessionFolder(env console.Env, dir string) (path string, remove func(), err error) {
	if dir == "" {
		dir = "shadow-" + env.Now().Format(folderTime)
	}
	remove = func() {}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, fmt.Errorf("making the session folder: %w (choose another with -o)", err)
		}
		remove = func() { _ = os.Remove(dir) } // only if empty
	case errors.Is(err, unix.ENOTDIR):
		return "", nil, fmt.Errorf("%s exists and is not a folder; choose another with -o", dir)
	case err != nil:
		return "", nil, fmt.Errorf("reading the session folder: %w", err)
	case len(entries) > 0:
		return "", nil, fmt.Errorf("%s exists and is not empty; choose another with -o, or remove it", dir)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return "", nil, fmt.Errorf("%s cannot be written to: %w; choose another with -o", dir, err)
	}
	if err := checkSpace(dir); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// checkSpace reports whether the disk of dir has too little room for a session.
func checkSpace(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err == nil { // else it is not there yet
		if free := int64(st.Bavail) * int64(st.Bsize); free < leastSpace {
			return fmt.Errorf("no space for a session: %s free in %s, at least %s wanted; make space or choose another folder with -o",
				units.FormatBytes(free), dir, units.FormatBytes(leastSpace))
		}
	}
	return nil
}

// ExperimentFolder is the folder of an experiment of a verb, which may be one to continue; dir: the one that was asked for.
func ExperimentFolder(env console.Env, dir, verb string) (string, error) {
	if dir == "" {
		dir = "shadow-" + verb + "-" + env.Now().Format(folderTime)
	}
	return dir, checkSpace(dir)
}

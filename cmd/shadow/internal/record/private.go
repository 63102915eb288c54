package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stackagent/internal/spool"
)

// TokenVariable is where an agent looks for the bus's secret by default. The agents of a run get the secret in a file, so
// a run removes the variable from their environment.
const TokenVariable = "STACKAGENT_BUS_TOKEN"

// privateFolder is a temporary folder that only this user may enter, for what a
// run shares with the agents of its JVMs.
type privateFolder string

// token is the file with the bus's secret.
func (p privateFolder) token() string { return filepath.Join(string(p), "token") }

// spool is where the agents keep what the bus does not take.
func (p privateFolder) spool() string { return filepath.Join(string(p), "spool") }

// store holds the path of the folder with the sessions, for who delivers spool files later. The recording holds a
// lock on it.
func (p privateFolder) store() string { return filepath.Join(string(p), "store") }

// ofSpool is the private folder that a spool file lies in.
func ofSpool(file string) privateFolder { return privateFolder(filepath.Dir(filepath.Dir(file))) }

// maxPath bounds what is read of a file that should hold a path.
const maxPath = 4096

// ErrRecords is a spool file of a recording that still runs.
var ErrRecords = errors.New("its shadow still runs, and stores it when the command ends")

// StoreOf is the folder of the recording whose agent left the spool file; "" if it is not from a recording, or another
// user could have written where it goes.
func StoreOf(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("spool file: %w", err)
	}
	p := ofSpool(file)
	f, err := os.OpenFile(p.store(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", nil // not from a recording
	}
	defer f.Close()
	var folder, st unix.Stat_t
	if unix.Stat(string(p), &folder) != nil || unix.Fstat(int(f.Fd()), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxPath ||
		int(st.Uid) != os.Geteuid() || int(folder.Uid) != os.Geteuid() || folder.Mode&0o077 != 0 {
		return "", nil
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return "", fmt.Errorf("%s: %w", file, ErrRecords)
	}
	b, err := io.ReadAll(f)
	if root := string(b); err == nil && filepath.IsAbs(root) {
		return root, nil
	}
	return "", nil
}

// Delivered removes the private folder of a recording that was killed, once nothing is left in it.
func Delivered(file string) {
	if file, err := filepath.Abs(file); err == nil {
		if root, err := StoreOf(file); err == nil && root != "" {
			ofSpool(file).remove()
		}
	}
}

// newPrivateFolder makes the folder of a recording into root. The recording closes lock when it ends.
func newPrivateFolder(root, token string) (p privateFolder, lock *os.File, err error) {
	dir, err := os.MkdirTemp("", "stackagent-") // mode 0700
	if err != nil {
		return "", nil, fmt.Errorf("making a place for the bus's token: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, fmt.Errorf("making a place for the bus's token: %w", err)
	}
	p = privateFolder(dir)
	if err := os.WriteFile(p.token(), []byte(token), 0o600); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("writing the bus's token: %w", err)
	}
	if lock, err = p.keepStore(root); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("writing the path of the sessions: %w", err)
	}
	return p, lock, nil
}

// keepStore writes where the sessions are, and locks it.
func (p privateFolder) keepStore(root string) (*os.File, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(p.store(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(root)
	if err = errors.Join(err, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove deletes the folder, unless a JVM has left, or still writes, a spool file
// in it, or a damaged one is kept there.
func (p privateFolder) remove() {
	switch {
	case p == "":
	case len(spool.Files(p.spool()))+len(spool.Kept(p.spool())) == 0:
		os.RemoveAll(string(p))
	default:
		os.Remove(p.token())
	}
}

// Token is the file with the bus's secret, for agents of this user.
func (c *Collector) Token() string { return c.private.token() }

// DeoptLog is a file to which the command's JVM may log its deoptimisations. It lasts until Finish.
func (c *Collector) DeoptLog() string { return filepath.Join(string(c.private), "deopts.log") }

// Private is a file of this user alone, by its name. It lasts until Finish.
func (c *Collector) Private(name string) string { return filepath.Join(string(c.private), name) }

// Spool is where agents keep what the bus does not take.
func (c *Collector) Spool() string { return c.private.spool() }

package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/shadow/store"
)

// Last is the word that stands for the newest session of the default place wherever a session's folder is wanted.
const Last = "last"

// placePrefix begins the names that shadow run and shadow serve give folders in the current directory.
const placePrefix = "shadow-"

// Found is a session somewhere.
type Found struct {
	Dir string // its folder
	Entry
}

// Default lists the sessions of the default place, the newest first: in the current directory, the folders shadow-*
// that are sessions, and the sessions in those that are not, such as shadow-store, the store of shadow serve.
func Default() ([]Found, error) {
	dirs, err := filepath.Glob(placePrefix + "*")
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	return In(slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})...)
}

// In lists the sessions in folders, each a session or a store, the newest first.
func In(dirs ...string) ([]Found, error) {
	var all []Found
	for _, dir := range dirs {
		found, err := in(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	Sort(all)
	return all, nil
}

// Sort puts the newest first.
func Sort(all []Found) {
	slices.SortStableFunc(all, func(a, b Found) int { return newestFirst(a.Entry, b.Entry) })
}

func in(dir string) ([]Found, error) {
	if e, ok := single(dir); ok {
		return []Found{{dir, e}}, nil
	}
	list, err := New(dir).List()
	if err != nil {
		return nil, err
	}
	found := make([]Found, len(list))
	for i, e := range list {
		found[i] = Found{filepath.Join(dir, e.Folder), e}
	}
	return found, nil
}

// single is the session that dir itself is.
func single(dir string) (Entry, bool) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return Entry{}, false
	}
	k, ok := New(filepath.Dir(path)).one(filepath.Base(path))
	return k.entry, ok && k.entry.Folder != ""
}

// Resolve gives the folder that a user means by dir: of "last", the newest session of the default place, unless there is
// a folder of that name.
func Resolve(dir string) (string, error) {
	if dir != Last {
		return dir, nil
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	found, err := Default()
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("there is no session here (last is the newest one in the folders %s* of the current directory); shadow run makes one", placePrefix)
	}
	return found[0].Dir, nil
}

// Delete removes the session in dir; see store.Delete.
func Delete(dir string) error {
	return within(dir, store.Delete)
}

// Relabel changes the label of the session in dir; see SetLabel.
func Relabel(dir string, change func(*Label)) error {
	return within(dir, func(root *os.Root, folder string) error {
		l := ReadLabel(dir)
		change(&l)
		return SetLabel(root, folder, l)
	})
}

// within calls do with the folder that dir is in, and its name there.
func within(dir string, do func(root *os.Root, folder string) error) error {
	path, err := filepath.Abs(strings.TrimRight(dir, "/"))
	if err != nil {
		return fmt.Errorf("looking for the session: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("looking for the session: %w", err)
	}
	defer root.Close()
	return do(root, filepath.Base(path))
}

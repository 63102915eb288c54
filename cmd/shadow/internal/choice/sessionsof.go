package choice

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/session"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Sessions lists the sessions in folders, each once; notes say which are left out as copies of others: a run that counted
// twice would make intervals too narrow. Where damaged sessions are read, a copy that is whole is taken instead of one that
// is not.
func Sessions(env console.Env, args []string) (all, notes []string, err error) {
	damaged := env.Sessions != nil && env.Sessions.Damaged
	seen, first, copies := map[string]bool{}, map[store.Identity]int{}, map[int][]string{} // places in all; copies by them
	for _, arg := range args {
		dir, err := env.Resolve(arg)
		if err != nil {
			return nil, nil, err
		}
		dirs, err := SessionsBelow(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range dirs {
			if seen[d] {
				continue
			}
			seen[d] = true
			if id, err := store.IdentityOf(d, damaged); err == nil { // else opening it says why
				if i, ok := first[id]; ok {
					copies[i] = append(copies[i], d)
					continue
				}
				first[id] = len(all)
			}
			all = append(all, d)
		}
	}
	for i := range all {
		same := copies[i]
		if damaged && len(same) > 0 && session.Verify(all[i]) != nil {
			if whole := slices.IndexFunc(same, func(d string) bool { return session.Verify(d) == nil }); whole >= 0 {
				all[i], same[whole] = same[whole], all[i]
			}
		}
		for _, d := range same {
			notes = append(notes, fmt.Sprintf("%s holds the same session as %s: it counts once", d, all[i]))
		}
	}
	return all, notes, nil
}

// Bounds of the search for sessions in a folder.
const (
	deepestSession = 4
	mostSessions   = 1000
)

// SessionsBelow lists the sessions in a folder: itself, or those below it. If there are
// none, it lists the folder, and opening it says what is wrong.
func SessionsBelow(dir string) ([]string, error) { return AtMostBelow(dir, mostSessions) }

// AtMostBelow is SessionsBelow with a bound of its own: more are an error.
func AtMostBelow(dir string, most int) ([]string, error) {
	if objectstore.Remote(dir) {
		found, err := remotefs.Dirs(context.Background(), dir, most)
		if len(found) == 0 {
			found = []string{dir}
		}
		return found, err
	}
	var found []string
	root := filepath.Clean(dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return fs.SkipAll // opening says why
			}
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(path, store.ManifestName)); err == nil {
			if found = append(found, path); len(found) > most {
				return fmt.Errorf("more than %d sessions in %s: name fewer", most, dir)
			}
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(root, path); strings.Count(rel, string(filepath.Separator)) >= deepestSession-1 {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	if len(found) == 0 {
		found = []string{dir}
	}
	return found, nil
}

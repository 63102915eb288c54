package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// besideFolder and samplesFolder are folders in a session's that are not the store's: the
// scheduling record (hpc/sched) and the samples of monitors (hpc/monitor).
const (
	besideFolder  = "sched"
	samplesFolder = "monitors"
)

// Promote moves the files of the session in root/session up into root itself,
// so that root is the session; with them the folders of what was recorded beside.
// The session must have ended. The manifest moves last; a move that was
// interrupted is finished by calling Promote again.
func Promote(root, session string) error {
	dir := filepath.Join(root, session)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("moving session %s up: %w", session, err)
	}
	if err := checkFolder(session); err != nil {
		return fmt.Errorf("moving a session up: %w", err)
	}
	_, err = os.Lstat(filepath.Join(root, ManifestName))
	if m, bad := ReadManifest(root); err == nil && bad == nil && len(entries) == 0 && m.Session == session {
		return emptied(root, dir) // all but this was done before
	}
	if _, err := ReadManifest(dir); err != nil {
		return fmt.Errorf("moving session %s up: %w", session, err)
	}
	if err == nil {
		return fmt.Errorf("moving session %s up: %s already is a session", session, root)
	}
	move := func(name string) error {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(root, name)); err != nil {
			return fmt.Errorf("moving session %s up: %w", session, err)
		}
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tmpPrefix) {
			os.Remove(filepath.Join(dir, e.Name())) // half a file of a shadow that died; if it stays, removing dir says so
		}
		if _, _, ok := ParsePartName(e.Name()); ok || e.IsDir() && (e.Name() == besideFolder || e.Name() == samplesFolder) {
			if err := move(e.Name()); err != nil {
				return err
			}
		}
	}
	if err := syncDir(root); err != nil {
		return err
	}
	if err := move(ManifestName); err != nil {
		return err
	}
	return emptied(root, dir)
}

// emptied takes away the folder that a session was moved out of.
func emptied(root, dir string) error {
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("moving a session up: the emptied folder: %w", err)
	}
	return syncDir(root)
}

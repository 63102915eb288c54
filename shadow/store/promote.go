package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Promote moves the files of the session in root/session up into root itself,
// so that root is the session. The session must have ended. The manifest moves
// last; a move that was interrupted is finished by calling Promote again.
func Promote(root, session string) error {
	dir := filepath.Join(root, session)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("moving session %s up: %w", session, err)
	}
	if _, err := ReadManifest(dir); err != nil {
		return fmt.Errorf("moving session %s up: %w", session, err)
	}
	if _, err := os.Lstat(filepath.Join(root, ManifestName)); err == nil {
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
		if _, _, ok := ParsePartName(e.Name()); ok {
			if err := move(e.Name()); err != nil {
				return err
			}
		}
	}
	if err := move(ManifestName); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("moving session %s up: the emptied folder: %w", session, err)
	}
	return syncDir(root)
}

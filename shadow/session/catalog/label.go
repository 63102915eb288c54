package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"stackagent/internal/bounded"
	"stackagent/internal/text"
	"stackagent/shadow/store"
)

// LabelName is the file in a session's folder with what the user calls it. The manifest stays as it was recorded: its
// name is part of the account.
const LabelName = "label.json"

// Label is what the user calls a session.
type Label struct {
	Name string `json:"name,omitempty"` // shown in place of the session's name
	Note string `json:"note,omitempty"` // free text
}

// Bounds of a label, in bytes.
const (
	MaxName  = 200
	MaxNote  = 2000
	maxLabel = 16 << 10 // of the file
)

// ErrLabel is a label that cannot be kept.
var ErrLabel = errors.New("not a label")

// check refuses what a listing cannot show.
func (l *Label) check() error {
	for what, s := range map[string]struct {
		text  string
		limit int
	}{"name": {l.Name, MaxName}, "note": {l.Note, MaxNote}} {
		switch {
		case len(s.text) > s.limit:
			return fmt.Errorf("%w: its %s has %d bytes; at most %d are allowed", ErrLabel, what, len(s.text), s.limit)
		case !utf8.ValidString(s.text) || s.text != text.Clean(s.text, utf8.RuneError):
			return fmt.Errorf("%w: its %s holds characters that cannot be shown", ErrLabel, what)
		}
	}
	return nil
}

// SetLabel keeps a label beside a session of the store; an empty one removes it.
func SetLabel(root *os.Root, folder string, l Label) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := store.CheckSession(root, folder); err != nil {
		return err
	}
	name := path.Join(folder, LabelName)
	if l == (Label{}) {
		if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the label: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encoding the label: %w", err)
	}
	return replace(root, name, data)
}

// replace writes a file so that a reader sees the old content or the new one.
func replace(root *os.Root, name string, data []byte) error {
	aside := path.Join(path.Dir(name), ".tmp-"+path.Base(name))
	if err := root.Remove(aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	f, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(aside, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", name, err), root.Remove(aside))
	}
	return nil
}

// ReadLabel reads the label of the session in dir; what is none counts as empty.
func ReadLabel(dir string) (l Label) {
	f, err := os.OpenFile(filepath.Join(dir, LabelName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	data, err := bounded.All(f, maxLabel+1, err)
	if err != nil {
		return Label{}
	}
	return parseLabel(data)
}

func parseLabel(data []byte) (l Label) {
	if len(data) > maxLabel || json.Unmarshal(data, &l) != nil || l.check() != nil {
		return Label{}
	}
	return l
}

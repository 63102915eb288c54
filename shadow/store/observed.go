package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// ObservedName is the file that says who observed a session's JVM from outside. A session that shadow run recorded has none.
const ObservedName = "observed.json"

const (
	observedVersion  = 1
	maxObservedBytes = 1 << 20
	maxObserver      = 256 // bytes of a name
	maxRefused       = 4 << 10
)

// Observed says who observed a JVM from outside, and when. Times are CLOCK_MONOTONIC of the JVM's host.
type Observed struct {
	Version  int          `json:"version"`
	Process  string       `json:"process"`   // of the session, as in its manifest
	By       string       `json:"by"`        // "shadow serve"
	Host     string       `json:"host"`      // of the observer
	ID       string       `json:"id"`        // of this observation
	LoadedNs units.MonoNs `json:"loaded_ns"` // when the JVM loaded the agent
	FromNs   units.MonoNs `json:"from_ns"`
	UntilNs  units.MonoNs `json:"until_ns"`          // what is recorded until now; later ones replace it
	Complete bool         `json:"complete"`          // until the end of the JVM or of the session
	Refused  string       `json:"refused,omitempty"` // why the JVM is not observed; "": it is

	// Files are the checksums of the files that the observer wrote and that do not change any more.
	Files  map[string]checksum.File `json:"files,omitempty"`
	Digest string                   `json:"digest,omitempty"`
}

// ReadObserved reads who observed the session in dir; nil without an error: nobody did.
func ReadObserved(dir string) (*Observed, error) {
	f, err := sessionfs.Open(filepath.Join(dir, ObservedName))
	data, err := bounded.All(f, maxObservedBytes+1, err)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ObservedName, err)
	}
	o, err := ParseObserved(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ObservedName), err)
	}
	return o, nil
}

// ParseObserved parses and checks what Write wrote.
func ParseObserved(data []byte) (*Observed, error) {
	if len(data) > maxObservedBytes {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrDamaged, maxObservedBytes)
	}
	var o Observed
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	switch {
	case o.Version != observedVersion:
		return nil, fmt.Errorf("version %d, this program knows %d: %w", o.Version, observedVersion, ErrNewerVersion)
	case len(o.By) > maxObserver || len(o.Host) > maxObserver || len(o.ID) > maxObserver || len(o.Refused) > maxRefused || wire.ValidProcess(o.Process) != nil:
		return nil, fmt.Errorf("%w: a name in it is out of bounds", ErrDamaged)
	case o.LoadedNs < 0 || o.FromNs < 0 || o.UntilNs < o.FromNs:
		return nil, fmt.Errorf("%w: a time in it is out of bounds", ErrDamaged)
	}
	if err := checksum.CheckJSON(data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &o, nil
}

// Write seals the files of names that are in the session's folder, and replaces the file there.
func (o Observed) Write(dir string, names ...string) error {
	o.Version, o.Digest, o.Files = observedVersion, "", map[string]checksum.File{}
	for _, name := range names {
		sum, err := sumOf(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sealing what was observed: %w", err)
		}
		o.Files[name] = sum
	}
	data, err := checksum.JSON(o)
	if err != nil {
		return fmt.Errorf("writing %s: %w", ObservedName, err)
	}
	path := filepath.Join(dir, ObservedName)
	if err := os.WriteFile(path+".tmp", data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", ObservedName, err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("writing %s: %w", ObservedName, err)
	}
	return nil
}

// vouched reports whether an observer of this session sealed a file that the manifest does not name.
func (f *Folder) vouched(m *Manifest, name string) bool {
	o, err := ReadObserved(f.Dir)
	if err != nil || o == nil || o.Process != m.Process {
		return false
	}
	want, listed := o.Files[name]
	if !listed {
		return false
	}
	got, err := sumOf(filepath.Join(f.Dir, name))
	return err == nil && want.Check(got) == nil
}

// checkObserved reports a file of an observer that is damaged, or another session's.
func (f *Folder) checkObserved(m *Manifest) {
	o, err := ReadObserved(f.Dir)
	if err == nil && o != nil && o.Process != m.Process {
		err = fmt.Errorf("%s: %w", filepath.Join(f.Dir, ObservedName), errForeign)
	}
	if err != nil {
		f.Damage = append(f.Damage, err)
	}
}

package rollup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

const (
	manifestVersion  = 1
	maxManifestBytes = 64 << 20
	// maxManifest is far more than a partition ever gets: it has the sessions of a service and a day. A higher number is
	// not ours, and would leave no room for the next.
	maxManifest = 999_999
)

// errManifest is a manifest that is not as ours are.
var errManifest = errors.New("no sound manifest of roll-ups")

// manifest says which compacted files of a partition count, and which files of sessions they stand for. The one with the
// highest number counts.
type manifest struct {
	Version int       `json:"version"`
	ID      string    `json:"id"` // of who wrote it: whose answer got lost finds out by it whether it is there
	Written time.Time `json:"written"`
	// Files are the live ones.
	Files []dataFile `json:"files"`
	// Covered are the ranges of batches, by the folder of their session, that Files sum up.
	Covered map[string]store.Ranges `json:"covered"`
	// Gone are files that the manifest before took out. They stay for readers of that one until some time after Since.
	Gone []goneFile `json:"covered_files,omitempty"`
	// Removed are levels, of which files were deleted for their age.
	Removed []Level `json:"removed,omitempty"`
}

// dataFile is a compacted file.
type dataFile struct {
	Name  string `json:"name"` // behind the prefix of its level and partition
	Level Level  `json:"level"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	First int64  `json:"first_unix_ns"` // window
	Last  int64  `json:"last_unix_ns"`
}

func (f *dataFile) key(p partition) string { return levelPrefix(f.Level) + p.String() + f.Name }

type goneFile struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since"`
	// By is the number of the manifest that took it out: those below need it. 0 stands for any, in manifests of old.
	By int `json:"by,omitempty"`
}

// parseManifest decodes and checks the manifest of a partition. It may be forged, and must not make a reader or a
// compactor touch other objects than those of the partition.
func parseManifest(data []byte, p partition) (*manifest, error) {
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errManifest, err)
	}
	if m.Version > manifestVersion {
		return nil, fmt.Errorf("%w: version %d", ErrVersion, m.Version)
	}
	if m.Version < 1 || m.ID == "" {
		return nil, fmt.Errorf("%w: version %d, id %q", errManifest, m.Version, m.ID)
	}
	seen := map[string]bool{}
	for i := range m.Files {
		f := &m.Files[i]
		if !f.Level.valid() || !dataPattern.MatchString(f.Name) || f.Bytes < 0 || f.Rows < 0 || f.First < 0 || f.Last < f.First || seen[f.key(p)] {
			return nil, fmt.Errorf("%w: file %q of level %q", errManifest, f.Name, f.Level)
		}
		seen[f.key(p)] = true
	}
	for folder, ranges := range m.Covered {
		if err := ranges.Check(); err != nil {
			return nil, fmt.Errorf("%w: session %q: %w", errManifest, folder, err)
		}
	}
	for _, g := range m.Gone {
		if seen[g.Key] || !ownFile(g.Key, p) {
			return nil, fmt.Errorf("%w: covered file %q", errManifest, g.Key)
		}
	}
	for _, l := range m.Removed {
		if !l.valid() {
			return nil, fmt.Errorf("%w: removed level %q", errManifest, l)
		}
	}
	return m, nil
}

// ownFile reports whether a key is of a roll-up of the partition.
func ownFile(key string, p partition) bool {
	if f, ok := parseFresh(objectstore.Object{Key: key}); ok {
		return f.partition == p
	}
	for _, l := range Levels {
		if name, ok := strings.CutPrefix(key, levelPrefix(l)+p.String()); ok {
			return dataPattern.MatchString(name)
		}
	}
	return false
}

// covers says how the manifest stands to a file of a session: it sums up all of it, or none.
func (m *manifest) covers(f *freshFile) (all bool, err error) {
	ranges := m.Covered[f.folder]
	if ranges.HasAll(f.rng.From, f.rng.To) {
		return true, nil
	}
	for _, r := range ranges {
		if r[0] <= f.rng.To && f.rng.From <= r[1] {
			return false, fmt.Errorf("its batches %d-%d are counted in part already", f.rng.From, f.rng.To)
		}
	}
	return false, nil
}

// getAll reads an object of at most most bytes.
func getAll(ctx context.Context, s objectstore.Store, key string, most int64) ([]byte, error) {
	r, o, err := s.GetRange(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.Bytes > most {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", key, o.Bytes, most)
	}
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", key, most)
	}
	return data, err
}

// state is a partition as it is listed.
type state struct {
	partition
	number  int                  // of the manifest that counts; 0: none
	listed  objectstore.Object   // that manifest
	older   []objectstore.Object // manifests below it
	fresh   []freshFile
	current *manifest // that of number, once it was read; an empty one if there is none
	odd     []Missing // manifests that stackagent did not write, by their numbers
	// damaged are manifests above the one that counts, which are not sound; known once they were read.
	damaged []Missing
}

// read reads the manifest that counts: the highest sound one. One that is damaged has replaced nothing that those below
// it need as long as one of them is there, see compactor.clean.
func (s *state) read(ctx context.Context, from objectstore.Store) error {
	s.current = &manifest{Covered: map[string]store.Ranges{}}
	slices.SortFunc(s.older, byKeys)
	for s.number > 0 {
		m, err := readManifest(ctx, from, s.partition, s.number)
		if err == nil {
			s.current = m
			return nil
		}
		if !errors.Is(err, errManifest) {
			return fmt.Errorf("%s: %w", s.listed.Key, err)
		}
		s.damaged = append(s.damaged, Missing{s.listed.Key, err.Error()})
		if len(s.older) == 0 {
			return fmt.Errorf("%s: %w; no manifest before it is left. Restore it from a backup or an old version of the object, or delete the roll-ups of %v and add its sessions again (shadow fleet add)", s.listed.Key, err, s.partition)
		}
		s.listed, s.older = s.older[len(s.older)-1], s.older[:len(s.older)-1]
		_, s.number, _ = parseManifestKey(s.listed.Key)
	}
	return nil
}

func byKeys(a, b objectstore.Object) int { return cmp.Compare(a.Key, b.Key) }

func readManifest(ctx context.Context, from objectstore.Store, p partition, number int) (*manifest, error) {
	data, err := getAll(ctx, from, manifestKey(p, number), maxManifestBytes)
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data, p)
	if err == nil && m.Covered == nil {
		m.Covered = map[string]store.Ranges{}
	}
	return m, err
}

// follows checks that no number is left out: each manifest is made from the one before, and the lowest go first. Else
// somebody else has written one, or removed one; and the compactor must not take for garbage what the others name.
func (s *state) follows() error {
	all := append(slices.Clone(s.older), s.listed)
	for i := 1; i < len(all); i++ {
		_, a, _ := parseManifestKey(all[i-1].Key)
		if _, b, _ := parseManifestKey(all[i].Key); b != a+1 {
			return fmt.Errorf("%s does not follow %s, so another program wrote one of them; look which is wrong, and delete it", path.Base(all[i].Key), path.Base(all[i-1].Key))
		}
	}
	return nil
}

// unsound are the manifests that do not count though their numbers are higher, and those that may be wrong.
func (s *state) unsound() (list []Missing) {
	if err := s.follows(); err != nil {
		list = append(list, Missing{s.listed.Key, err.Error()})
	}
	for _, m := range s.damaged {
		list = append(list, Missing{m.Key, fmt.Sprintf("%s; %s counts in its place, and shadow fleet compact removes it", m.Why, path.Base(s.listed.Key))})
	}
	return append(list, s.odd...)
}

// partitions collects what lists of the store say. The files of sessions are to be listed before the manifests: then a
// file that a compactor removed meanwhile, which only happens a while after its manifest, is in a manifest that was seen.
type partitions map[partition]*state

func (all partitions) of(p partition) *state {
	s := all[p]
	if s == nil {
		s = &state{partition: p}
		all[p] = s
	}
	return s
}

func (all partitions) addFresh(o objectstore.Object) {
	if f, ok := parseFresh(o); ok {
		s := all.of(f.partition)
		s.fresh = append(s.fresh, f)
	}
}

func (all partitions) addManifest(o objectstore.Object) {
	p, n, ok := parseManifestKey(o.Key)
	if !ok {
		return
	}
	s := all.of(p)
	if n > maxManifest {
		s.odd = append(s.odd, Missing{o.Key, fmt.Sprintf("it is ignored: stackagent gives no number above %d; delete it", maxManifest)})
		return
	}
	if n > s.number {
		if s.number > 0 {
			s.older = append(s.older, s.listed)
		}
		s.number, s.listed = n, o
	} else {
		s.older = append(s.older, o)
	}
}

// putJSON puts a manifest if its number is free.
func putJSON(ctx context.Context, s objectstore.Store, key string, m *manifest) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.PutIfAbsent(ctx, key, bytes.NewReader(data), int64(len(data)))
}

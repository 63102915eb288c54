package rollup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/shadow/store"
)

// ProgressName is the file in a session's folder that says what of it is rolled up.
const ProgressName = "rollup.json"

const (
	progressVersion  = 1
	maxProgressBytes = 64 << 20
)

// progress is what of a session is rolled up.
type progress struct {
	Version int          `json:"version"`
	Store   string       `json:"store"`  // its address
	Name    string       `json:"name"`   // the session's in the store
	Folder  string       `json:"folder"` // and in keys of roll-ups
	Rolled  store.Ranges `json:"rolled"`
	// Intent is the range that comes next. It is written before any of its files is put, and stays as it is until all are:
	// so their names are the same with each attempt.
	Intent  *intent `json:"intent,omitempty"`
	Carry   Carry   `json:"carry"`
	Ended   bool    `json:"ended,omitempty"`   // the last range was rolled up
	Problem string  `json:"problem,omitempty"` // why nothing can be
}

type intent struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Last bool   `json:"last,omitempty"`
}

// readProgress reads how far a session is; of one that nothing is known of, or of another store, it begins.
func readProgress(root *os.Root, address string) (*progress, error) {
	begin := &progress{Version: progressVersion, Store: address}
	f, err := root.OpenFile(ProgressName, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	data, err := bounded.All(f, maxProgressBytes, err)
	if errors.Is(err, fs.ErrNotExist) {
		return begin, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is rolled up: %w", err)
	}
	p, err := parseProgress(data)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); restore it, or delete it if none of the session is in the store", ProgressName, err)
	}
	if p.Store != address {
		return begin, nil
	}
	return p, nil
}

// parseProgress decodes a file that is written aside, synced and renamed: another content is damage, and beginning again
// would count twice.
func parseProgress(data []byte) (*progress, error) {
	p := new(progress)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if p.Version < 1 || p.Version > progressVersion {
		return nil, fmt.Errorf("%w: version %d", ErrVersion, p.Version)
	}
	if err := p.Rolled.Check(); err != nil {
		return nil, err
	}
	if i := p.Intent; i != nil && (i.From < 1 || i.To < i.From || i.To > store.MaxSeq) {
		return nil, fmt.Errorf("an intent of %d-%d", i.From, i.To)
	}
	return p, nil
}

// write keeps the progress, durably.
func (p *progress) write(root *os.Root) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	const tmp = checksum.TmpPrefix + ProgressName
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = root.Rename(tmp, ProgressName)
	}
	if err == nil {
		err = syncFolder(root)
	}
	if err != nil {
		return fmt.Errorf("keeping what is rolled up: %w", err)
	}
	return nil
}

func syncFolder(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MayMerge is for store.Writer.MayMerge of a session in dir that is rolled up while it goes on: batches that are rolled up
// and others must stay in parts of their own. ended: the session has.
func MayMerge(dir string, ended bool) func(store.Range) bool {
	none := func(store.Range) bool { return false }
	data, err := os.ReadFile(filepath.Join(dir, ProgressName))
	if errors.Is(err, fs.ErrNotExist) {
		return func(store.Range) bool { return ended }
	}
	if err != nil {
		return none
	}
	p, err := parseProgress(data)
	if err != nil {
		return none
	}
	return func(r store.Range) bool { return p.Ended || p.Rolled.HasAll(r.From, r.To) }
}

// next is the range to be rolled up next, whole runs of batches; not ok if there is none. Of a session whose pieces are in
// several stores, each rolls up what it has, and the one that saw the end what is known then only.
func (p *progress) next(m *store.Manifest, ended bool) (intent, bool) {
	if ended && len(p.Rolled) == 0 && len(m.Pieces) == 0 {
		return intent{1, max(m.Sequences.Max(), 1), true}, true
	}
	for _, run := range m.Sequences {
		for _, r := range minus(run, p.Rolled) {
			return intent{r[0], r[1], false}, true
		}
	}
	if ended && !p.Ended && m.Ended != store.EndedElsewhere {
		return intent{store.MaxSeq, store.MaxSeq, true}, true // no batch has that number: what is known at the end only
	}
	return intent{}, false
}

// minus is what of a range is not in a set.
func minus(r [2]uint64, set store.Ranges) (left [][2]uint64) {
	from := r[0]
	for _, x := range set {
		if x[1] < from {
			continue
		}
		if x[0] > r[1] {
			break
		}
		if x[0] > from {
			left = append(left, [2]uint64{from, x[0] - 1})
		}
		from = x[1] + 1
	}
	if from <= r[1] {
		left = append(left, [2]uint64{from, r[1]})
	}
	return left
}

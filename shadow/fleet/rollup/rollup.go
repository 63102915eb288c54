package rollup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// lookBack is how many batches before a range are searched for where its tasks were created and submitted. Of tasks that
// waited longer, executor and call site are not known.
const lookBack = 512

// RollUp sums up what came of the session in dir since the last call and puts it into a store; ended: all of it, since no
// more will come. name is the session's in the store; that of the first call counts. What was interrupted goes on with the next call, and counts once.
func RollUp(ctx context.Context, to objectstore.Store, dir, name string, ended bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("rolling up a session: %w", err)
	}
	defer root.Close()
	if err := rollUp(ctx, to, root, dir, name, ended); err != nil {
		return fmt.Errorf("rolling up the session %s: %w", dir, err)
	}
	return nil
}

// ErrLost is a session of which a store has a part of what was put, so that the rest cannot be put again.
var ErrLost = errors.New("the store has lost a part of what was put of it")

// Add is RollUp of a session that has ended, into a store that may have lost what was put before: that is put again.
// added is false if the store had all of it.
func Add(ctx context.Context, to objectstore.Store, dir, name string) (added bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, fmt.Errorf("rolling up a session: %w", err)
	}
	defer root.Close()
	p, err := readProgress(root, to.String())
	if err == nil && p.Ended && p.Intent == nil {
		if p.Problem != "" {
			err = errors.New(p.Problem)
		} else if added, err = p.again(ctx, to, root, dir); err == nil && !added {
			return false, nil
		}
	}
	if err == nil {
		err = rollUp(ctx, to, root, dir, name, true)
	}
	if err != nil {
		return false, fmt.Errorf("rolling up the session %s: %w", dir, err)
	}
	return true, nil
}

// again looks whether a store has all that was put of a session. If it has nothing, or all was put at once, the progress is
// set back: what is put a second time counts once.
func (p *progress) again(ctx context.Context, to objectstore.Store, root *os.Root, dir string) (lost bool, err error) {
	m, err := store.ReadManifest(dir)
	if err != nil {
		return false, err
	}
	days, err := p.held(ctx, newMeter(to, parallel), m)
	if err != nil {
		return false, err
	}
	atOnce := len(p.Rolled) == 1 && p.Rolled.Max() != store.MaxSeq
	var all store.Ranges
	for _, held := range days {
		for _, r := range held {
			all.Add(r[0], r[1])
		}
		lost = lost || atOnce && len(held) == 0
	}
	switch {
	case atOnce && lost: // as after a crash
		p.Intent, p.Carry, p.Ended = &intent{p.Rolled[0][0], p.Rolled[0][1], true}, Carry{}, false
		return true, p.write(root)
	case len(all) == 0:
		p.Rolled, p.Carry, p.Ended = nil, Carry{}, false
		return true, p.write(root)
	}
	for _, r := range p.Rolled {
		// What is known at the end only may be nothing.
		if left := minus(r, all); len(left) > 0 && left[0][0] != store.MaxSeq {
			return false, fmt.Errorf("%w: the sums of batches %d to %d. The rest is there and would count twice. Restore them, or delete %s.* below %s, if it is not compacted, and add the session again",
				ErrLost, left[0][0], left[0][1], p.Folder, freshPrefix)
		}
	}
	return false, nil
}

// mostDays bounds the days of a session that are looked at.
const mostDays = 400

// held are the batches of a session of which a store has sums, by day.
func (p *progress) held(ctx context.Context, s *meter, m *store.Manifest) (days []store.Ranges, err error) {
	folder, begin := objectstore.SafeName(p.Folder), time.Unix(0, m.WallUnixNs)
	end := begin.Add(time.Duration(m.DurationNs))
	for day := startOfDay(begin); !day.After(end) && len(days) < mostDays; day = day.AddDate(0, 0, 1) {
		x := &state{partition: partition{day.Format(time.DateOnly), objectstore.SafeName(m.Labels.Service)}}
		if err := x.relist(ctx, s); err != nil {
			return nil, err
		}
		held := slices.Clone(x.current.Covered[folder])
		for i := range x.fresh {
			if f := &x.fresh[i]; f.folder == folder {
				held.Add(f.rng.From, f.rng.To)
			}
		}
		days = append(days, held)
	}
	return days, nil
}

func rollUp(ctx context.Context, to objectstore.Store, root *os.Root, dir, name string, ended bool) error {
	p, err := readProgress(root, to.String())
	if err != nil {
		return err
	}
	m, err := store.ReadManifest(dir)
	if err != nil {
		return err
	}
	if p.Folder == "" {
		p.Name, p.Folder = name, folderOf(m)
	}
	for ctx.Err() == nil {
		recovered := p.Intent != nil
		if !recovered {
			next, ok := p.next(m, ended)
			if !ok {
				return nil
			}
			p.Intent = &next
			if err := p.write(root); err != nil {
				return err
			}
		}
		rows, carry, err := buildIntent(dir, p)
		switch {
		case errors.Is(err, store.ErrStraddles) && !recovered:
			p.Intent = nil // parts were merged meanwhile; nothing was put under this name
			return p.write(root)
		case errors.Is(err, ErrNoTime):
			p.Problem, p.Ended, p.Intent = err.Error(), true, nil
			return p.write(root)
		case err != nil:
			return err
		}
		if err := putFresh(ctx, to, p, rows); err != nil {
			return err
		}
		p.Rolled.Add(p.Intent.From, p.Intent.To)
		p.Carry, p.Ended, p.Intent = carry, p.Intent.Last, nil
		if err := p.write(root); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// folderOf names a session in keys of roll-ups: copies of a session have one name, whatever their folders are called, and so
// count once. Sessions that began on different days may meet in a partition.
func folderOf(m *store.Manifest) string {
	id := sha256.Sum256(fmt.Appendf(nil, "%+v", m.Identity()))
	return fmt.Sprintf("%s.%s-%x", objectstore.SafeName(m.Session), time.Unix(0, m.WallUnixNs).UTC().Format("20060102"), id[:6])
}

// buildIntent makes the rows of the range that is to be put.
func buildIntent(dir string, p *progress) ([]Row, Carry, error) {
	s, err := openIntent(dir, p.Intent, false)
	if errors.Is(err, store.ErrDamaged) {
		s, err = openIntent(dir, p.Intent, true) // what is left counts, and so does what is lost
	}
	if err != nil {
		return nil, Carry{}, err
	}
	defer s.Close()
	l := &s.Manifest.Labels
	labels := Labels{Service: l.Service, Version: l.Version, Env: l.Env, Instance: cmp.Or(l.Instance, p.Name), Session: p.Name}
	if len(l.Free) > 0 {
		free, err := json.Marshal(l.Free) // sorted by key
		if err != nil {
			return nil, Carry{}, err
		}
		labels.Free = string(free)
	}
	whole := s
	if p.Intent.Last && p.Intent.From > 1 {
		if whole, err = session.Open(dir); err == nil {
			defer whole.Close()
		} // else whole is nil
	}
	return Build(s, labels, p.Carry, p.Intent.Last, whole)
}

// openIntent opens the part of a session that an intent is about: all of it, if it is the first and the last.
func openIntent(dir string, i *intent, damaged bool) (*session.Session, error) {
	switch {
	case !i.Last || i.From > 1:
		return session.OpenRange(dir, session.Batches{Range: store.Range{From: i.From, To: i.To}, LookBack: lookBack}, damaged)
	case damaged:
		return session.OpenDamaged(dir)
	}
	return session.Open(dir)
}

// putFresh puts a file for each day of the rows.
func putFresh(ctx context.Context, to objectstore.Store, p *progress, rows []Row) error {
	days := byDay(rows)
	for _, day := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		var b bytes.Buffer
		if err := Write(&b, days[day]); err != nil {
			return err
		}
		key := freshKey(day, days[day][0].Service, p.Folder, store.Range{From: p.Intent.From, To: p.Intent.To})
		err := to.PutIfAbsent(ctx, key, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil && !errors.Is(err, objectstore.ErrExists) { // an attempt before, whose answer did not arrive
			return fmt.Errorf("putting %s: %w", key, err)
		}
	}
	return nil
}

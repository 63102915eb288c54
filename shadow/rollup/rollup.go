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

	"stackagent/shadow/objects"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// lookBack is how many batches before a range are searched for where its tasks were created and submitted. Of tasks that
// waited longer, executor and call site are not known.
const lookBack = 512

// RollUp sums up what came of the session in dir since the last call and puts it into a store; ended: all of it, since no
// more will come. name is the session's in the store; that of the first call counts. What was interrupted goes on with the next call, and counts once.
func RollUp(ctx context.Context, to objects.Store, dir, name string, ended bool) error {
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

// RolledUp reports whether the session in dir is in a store already, by what is written down beside it.
func RolledUp(to objects.Store, dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	p, err := readProgress(root, to.String())
	return err == nil && p.Ended
}

func rollUp(ctx context.Context, to objects.Store, root *os.Root, dir, name string, ended bool) error {
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
	return fmt.Sprintf("%s.%s-%x", objects.SafeName(m.Session), time.Unix(0, m.WallUnixNs).UTC().Format("20060102"), id[:6])
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
	return Build(s, labels, p.Carry, p.Intent.Last)
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
func putFresh(ctx context.Context, to objects.Store, p *progress, rows []Row) error {
	days := byDay(rows)
	for _, day := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		var b bytes.Buffer
		if err := Write(&b, days[day]); err != nil {
			return err
		}
		key := freshKey(day, days[day][0].Service, p.Folder, store.Range{From: p.Intent.From, To: p.Intent.To})
		err := to.PutIfAbsent(ctx, key, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil && !errors.Is(err, objects.ErrExists) { // an attempt before, whose answer did not arrive
			return fmt.Errorf("putting %s: %w", key, err)
		}
	}
	return nil
}

package rollup

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Defaults of CompactOptions.
const (
	DefaultGrace     = time.Hour
	DefaultOrphanAge = 24 * time.Hour
	DefaultEnough    = 16
	DefaultPatience  = time.Hour
)

// Bounds of one step of a compaction.
const (
	mostFresh      = 512
	mostFreshBytes = 4 << 20 // as they are stored; in memory they take up to 50 times as much
	mostRuns       = 16      // compacted files that are merged at once, and that a level of a day that is not over may have
)

// dayEnds is how long after a day its files are merged into one a level.
const dayEnds = time.Hour

// lookAgain is how long after its last change a partition is looked at for what is to be removed.
const lookAgain = 3 * 24 * time.Hour

// CompactOptions of Compact; zero values choose the defaults.
type CompactOptions struct {
	Grace     time.Duration // how long files stay that a manifest no longer needs
	OrphanAge time.Duration // when a compacted file that no manifest names is removed
	Enough    int           // files of sessions in a partition that are merged at once
	Patience  time.Duration // how long fewer of them wait for more
	Logger    *slog.Logger
}

// Compacted says what a pass did.
type Compacted struct {
	Partitions int       // in which something was done
	Merged     int       // files of sessions
	Rewritten  int       // compacted files that became one
	Written    int       // compacted files
	Deleted    int       // objects
	Contested  int       // partitions in which another compactor was faster
	Missing    []Missing // what could not be read
}

// compactor is a pass.
type compactor struct {
	s     *meter
	o     CompactOptions
	now   time.Time
	begun time.Time // by our monotonic clock
	done  Compacted
}

// Compact merges the files of sessions into a few files a day and service. It may run several times at once: of two that
// work on a partition, one wins by the number of its manifest. Crashes leave files that later passes remove. Clocks decide
// only when something is removed; they must not be wrong by an hour.
func Compact(ctx context.Context, s objectstore.Store, o CompactOptions, now time.Time) (*Compacted, error) {
	o.Grace, o.OrphanAge = cmp.Or(o.Grace, DefaultGrace), cmp.Or(o.OrphanAge, DefaultOrphanAge)
	o.Enough, o.Patience = cmp.Or(o.Enough, DefaultEnough), cmp.Or(o.Patience, DefaultPatience)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	c := &compactor{s: newMeter(s, parallel), o: o, now: now.UTC(), begun: time.Now()}
	all, err := listPartitions(ctx, c.s, time.Time{}, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("compacting %s: %w", s, err)
	}
	var errs []error
	for _, p := range slices.SortedFunc(maps.Keys(all), func(a, b partition) int {
		return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.service, b.service))
	}) {
		if ctx.Err() != nil {
			return &c.done, ctx.Err()
		}
		if !c.mayNeed(all[p]) {
			continue
		}
		if err := c.partition(ctx, all[p]); err != nil {
			errs = append(errs, fmt.Errorf("compacting %v of %s: %w", p, s, err))
		}
	}
	return &c.done, errors.Join(errs...)
}

// mayNeed reports by the names of objects whether there may be something to do.
func (c *compactor) mayNeed(s *state) bool {
	return len(s.fresh) > 0 || len(s.older) > 0 || s.number > 0 && c.now.Sub(s.listed.Modified) < lookAgain
}

// over reports whether the day of a partition has ended, and what is late has come.
func (c *compactor) over(p partition) bool { return c.now.After(p.day().Add(24*time.Hour + dayEnds)) }

// errContested is a manifest that another compactor wrote first.
var errContested = errors.New("another compactor was faster")

func (c *compactor) partition(ctx context.Context, s *state) error {
	before := c.done
	steps := []func(context.Context, *state) (bool, error){c.mend, c.mergeFresh, c.consolidate}
	for _, step := range steps {
		for again := true; again; {
			if err := s.relist(ctx, c.s); err != nil {
				return err
			}
			var err error
			again, err = step(ctx, s)
			if errors.Is(err, errContested) {
				c.done.Contested++
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	if err := c.clean(ctx, s); err != nil {
		return err
	}
	if c.done.Written != before.Written || c.done.Deleted != before.Deleted {
		c.done.Partitions++
	}
	return nil
}

// relist looks at a partition anew and reads its manifest.
func (s *state) relist(ctx context.Context, from *meter) error {
	all := partitions{}
	for _, kind := range []struct {
		prefix string
		add    func(objectstore.Object)
	}{{freshPrefix, all.addFresh}, {manifestPrefix, all.addManifest}} {
		list, err := from.list(ctx, kind.prefix+s.partition.String())
		if err != nil {
			return err
		}
		for _, o := range list {
			kind.add(o)
		}
	}
	*s = *all.of(s.partition)
	return s.read(ctx, from)
}

// mend removes manifests that are not sound, if the one that counts in their place still has all its files. Then the next
// manifest gets their number. What cannot be mended is an error, so that nothing of the partition is merged or removed.
func (c *compactor) mend(ctx context.Context, s *state) (again bool, err error) {
	c.done.Missing = append(c.done.Missing, s.odd...)
	if err := s.follows(); err != nil || len(s.damaged) == 0 {
		return false, err
	}
	there := map[string]int64{}
	for _, l := range Levels {
		list, err := c.s.list(ctx, levelPrefix(l)+s.partition.String())
		if err != nil {
			return false, err
		}
		for _, o := range list {
			there[o.Key] = o.Bytes
		}
	}
	for i := range s.current.Files {
		if f := &s.current.Files[i]; there[f.key(s.partition)] != f.Bytes {
			return false, fmt.Errorf("%s: %s; %s before it lacks its file %s. Restore one of them from a backup or an old version of the object", s.damaged[0].Key, s.damaged[0].Why, path.Base(s.listed.Key), f.key(s.partition))
		}
	}
	for _, m := range s.damaged {
		if err := c.delete(ctx, []string{m.Key}); err != nil {
			return false, err
		}
		c.done.Missing = append(c.done.Missing, Missing{m.Key, fmt.Sprintf("%s; removed: %s counts in its place", m.Why, path.Base(s.listed.Key))})
	}
	return false, nil
}

// mergeFresh merges files of sessions into new files of all levels. again: there may be more.
func (c *compactor) mergeFresh(ctx context.Context, s *state) (again bool, err error) {
	live, bad := s.live()
	c.done.Missing = append(c.done.Missing, bad...)
	if !c.due(s, live) {
		return false, nil
	}
	taken := live[:0:0]
	var bytes int64
	for _, f := range live {
		if len(taken) == mostFresh || len(taken) > 0 && bytes+f.object.Bytes > mostFreshBytes {
			again = true
			break
		}
		taken, bytes = append(taken, f), bytes+f.object.Bytes
	}
	for len(taken) > 0 {
		next := s.successor(c.now)
		out := newOutput(ctx, c.s, s.partition, s.number+1, next.ID)
		l := &levels{out: out, instance: map[string]*Row{}}
		inputs := make([]input, len(taken))
		for i, f := range taken {
			inputs[i] = input{s.partition, f.object.Key, f.object.Bytes}
		}
		err := merge(ctx, c.s, inputs, l.add)
		var wrong inputError
		if errors.As(err, &wrong) && ctx.Err() == nil { // it stays where it is, and readers say that they cannot read it
			c.done.Missing = append(c.done.Missing, Missing{inputs[wrong.number].key, wrong.Error()})
			taken = slices.Delete(taken, wrong.number, wrong.number+1)
			again = false // the next pass would meet it first
			if err := out.drop(); err != nil {
				return false, err
			}
			continue
		}
		if err == nil {
			err = errors.Join(l.close(), out.close())
		}
		if err != nil {
			return false, errors.Join(err, out.drop())
		}
		for _, f := range taken {
			ranges := slices.Clone(next.Covered[f.folder])
			ranges.Add(f.rng.From, f.rng.To)
			next.Covered[f.folder] = ranges
			next.Gone = append(next.Gone, goneFile{f.object.Key, c.now, s.number + 1})
		}
		if err := c.commit(ctx, s, next, out); err != nil {
			return false, err
		}
		c.done.Merged += len(taken)
		return again, nil
	}
	return false, nil
}

// due reports whether files of sessions are to be merged now.
func (c *compactor) due(s *state, live []freshFile) bool {
	return len(live) >= c.o.Enough || slices.ContainsFunc(live, func(f freshFile) bool {
		return c.over(s.partition) || c.now.Sub(f.object.Modified) > c.o.Patience
	})
}

// consolidate merges compacted files of a level: those of a day that is over, and where there are many.
func (c *compactor) consolidate(ctx context.Context, s *state) (again bool, err error) {
	next := s.successor(c.now)
	out := newOutput(ctx, c.s, s.partition, s.number+1, next.ID)
	replaced := map[string]bool{}
	for _, l := range Levels {
		runs := map[string][]dataFile{} // what was written together is in order
		for _, f := range s.current.Files {
			if f.Level == l {
				runs[runOf(f.Name)] = append(runs[runOf(f.Name)], f)
			}
		}
		if len(runs) < 2 || !c.over(s.partition) && len(runs) < mostRuns {
			continue
		}
		var inputs []input
		for _, name := range slices.Sorted(maps.Keys(runs))[:min(len(runs), mostRuns)] {
			for _, f := range runs[name] {
				inputs = append(inputs, input{s.partition, f.key(s.partition), f.Bytes})
				replaced[f.key(s.partition)] = true
			}
		}
		if err := merge(ctx, c.s, inputs, func(r *Row) error { return out.add(l, r) }); err != nil {
			return false, errors.Join(err, out.drop())
		}
	}
	if len(replaced) == 0 {
		return false, nil
	}
	if err := out.close(); err != nil {
		return false, errors.Join(err, out.drop())
	}
	next.Files = slices.DeleteFunc(next.Files, func(f dataFile) bool { return replaced[f.key(s.partition)] })
	for _, key := range slices.Sorted(maps.Keys(replaced)) {
		next.Gone = append(next.Gone, goneFile{key, c.now, s.number + 1})
	}
	if err := c.commit(ctx, s, next, out); err != nil {
		return false, err
	}
	c.done.Rewritten += len(replaced)
	return true, nil
}

// runOf is what the names of files have in common that were written by one step.
func runOf(name string) string { return name[:strings.LastIndexByte(name, '-')] }

// successor is a manifest that follows the current one.
func (s *state) successor(now time.Time) *manifest {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the process instead
	next := &manifest{Version: manifestVersion, ID: hex.EncodeToString(id[:]), Written: now, Files: slices.Clone(s.current.Files), Covered: map[string]store.Ranges{},
		Gone: slices.Clone(s.current.Gone), Removed: slices.Clone(s.current.Removed)}
	maps.Copy(next.Covered, s.current.Covered)
	// Those that a crash let stay are found without the manifest, a day later.
	next.Gone = slices.DeleteFunc(next.Gone, func(g goneFile) bool { return now.Sub(g.Since) > lookAgain })
	return next
}

// commit puts the next manifest with the files of out. Of several that write the same number one wins; the others remove
// their files. If it is not known who won, the files stay: should the manifest arrive after all, it needs them.
func (c *compactor) commit(ctx context.Context, s *state, next *manifest, out *output) error {
	next.Files = append(next.Files, out.written...)
	if time.Since(c.begun) > c.o.OrphanAge/4 {
		return errors.Join(errors.New("it took so long that the new files may have been removed as orphans"), out.drop())
	}
	won, err := putManifest(ctx, c.s, s.partition, s.number+1, next)
	switch {
	case err != nil:
		return err
	case !won:
		return errors.Join(errContested, out.drop())
	}
	c.done.Written += len(out.written)
	return nil
}

// putManifest puts a manifest if its number is free, and finds out who has it.
func putManifest(ctx context.Context, s objectstore.Store, p partition, number int, m *manifest) (won bool, err error) {
	key := manifestKey(p, number)
	if number > maxManifest {
		return false, fmt.Errorf("%s has the last number that there is. Stackagent hardly wrote it: look at what it says, and who may write there, and delete it", manifestKey(p, number-1))
	}
	err = putJSON(ctx, s, key, m)
	if err == nil {
		return true, nil
	}
	data, readErr := getAll(ctx, s, key, maxManifestBytes)
	if readErr != nil {
		return false, fmt.Errorf("putting %s: %w", key, errors.Join(err, readErr))
	}
	there, parseErr := parseManifest(data, p)
	if parseErr != nil {
		return false, fmt.Errorf("putting %s: %w", key, errors.Join(err, parseErr))
	}
	return there.ID == m.ID, nil
}

// clean removes what is no longer needed: files that manifests took out a while ago, manifests before the highest, and
// what crashes left.
func (c *compactor) clean(ctx context.Context, s *state) error {
	var data []objectstore.Object
	for _, l := range Levels { // before the manifest is read: what is not in it then never will be
		list, err := c.s.list(ctx, levelPrefix(l)+s.partition.String())
		if err != nil {
			return err
		}
		data = append(data, list...)
	}
	if err := s.relist(ctx, c.s); err != nil {
		return err
	}
	m := s.current
	gone := map[string]goneFile{}
	for _, g := range m.Gone {
		gone[g.Key] = g
	}
	named := map[string]bool{}
	for i := range m.Files {
		named[m.Files[i].key(s.partition)] = true
	}
	old, lowest := s.outdated(c.now.Add(-c.o.Grace))
	for i := range s.fresh {
		f := &s.fresh[i]
		if all, err := m.covers(f); err != nil || !all {
			continue
		}
		g, known := gone[f.object.Key]
		if !known { // an attempt to put it was repeated after all was done
			g = goneFile{Since: later(m.Written, f.object.Modified), By: s.number}
		}
		if c.now.Sub(g.Since) > c.o.Grace && g.By <= lowest {
			old = append(old, f.object.Key)
		}
	}
	for _, o := range data {
		g, known := gone[o.Key]
		switch {
		case named[o.Key] || !ownFile(o.Key, s.partition):
		case known && c.now.Sub(g.Since) > c.o.Grace && g.By <= lowest, !known && c.now.Sub(o.Modified) > c.o.OrphanAge:
			old = append(old, o.Key)
		}
	}
	return c.delete(ctx, old)
}

// outdated are the manifests that were replaced before a moment, from the lowest on. They go before the files that only
// they need: should the highest be damaged, one below it that is there has all its files. lowest is the number of the first
// that stays.
func (s *state) outdated(before time.Time) (keys []string, lowest int) {
	for i, o := range s.older {
		replaced := later(s.current.Written, s.listed.Modified)
		if i+1 < len(s.older) {
			replaced = s.older[i+1].Modified
		}
		if !replaced.Before(before) {
			_, lowest, _ = parseManifestKey(o.Key)
			return keys, lowest
		}
		keys = append(keys, o.Key)
	}
	return keys, s.number
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (c *compactor) delete(ctx context.Context, keys []string) error {
	for _, k := range keys {
		if err := c.s.Delete(ctx, k); err != nil {
			return fmt.Errorf("deleting %s: %w", k, err)
		}
		c.done.Deleted++
	}
	return nil
}

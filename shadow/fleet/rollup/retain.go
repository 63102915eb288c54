package rollup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Policy says how long what is kept; 0: for ever.
type Policy struct {
	Raw    time.Duration // sessions
	Detail time.Duration // rows of five minutes
	Day    time.Duration // rows of days, of instances and of all
}

// Kinds of what is deleted.
const (
	KindSession  = "session"
	KindManifest = "manifest" // of a partition of which all files are gone
)

// Deletion is what is deleted together.
type Deletion struct {
	Kind    string // KindSession, KindManifest or a Level
	Name    string // the beginning of its keys
	Objects int
	Bytes   int64
	Skipped string // why it is not deleted though it is old; "": it is

	keys      []string // in the order in which they are deleted
	partition partition
	level     Level // whose files a new manifest leaves out; "": no manifest is written
}

// manifestsAfter is how long a partition's manifest outlives its files: a file of a session whose putting is repeated late
// is not counted again.
const manifestsAfter = 30 * 24 * time.Hour

// leastRaw is the least age of a session that is deleted: a younger one may be on its way.
const leastRaw = 24 * time.Hour

// Plan lists what a policy deletes. Ages are counted from the end of the day; of sessions, from their last change.
func Plan(ctx context.Context, s objectstore.Store, p Policy, now time.Time) ([]Deletion, error) {
	m := newMeter(s, parallel)
	var plan []Deletion
	if p.Raw > 0 {
		sessions, err := planSessions(ctx, m, max(p.Raw, leastRaw), now)
		if err != nil {
			return nil, fmt.Errorf("planning what to delete in %s: %w", s, err)
		}
		plan = append(plan, sessions...)
	}
	if p.Detail > 0 || p.Day > 0 {
		files, err := planRollups(ctx, m, p, now)
		if err != nil {
			return nil, fmt.Errorf("planning what to delete in %s: %w", s, err)
		}
		plan = append(plan, files...)
	}
	return plan, nil
}

// planSessions finds sessions that began, and were changed last, before a time. Their keys come in order, session by
// session.
func planSessions(ctx context.Context, s *meter, age time.Duration, now time.Time) (plan []Deletion, err error) {
	var d Deletion
	newest, manifest := time.Time{}, ""
	end := func() {
		if d.Name != "" && now.Sub(newest) > age {
			if manifest != "" {
				d.keys = append([]string{manifest}, d.keys...) // first: without it nobody sees a part of the session
			}
			plan = append(plan, d)
		}
		d, newest, manifest = Deletion{}, time.Time{}, ""
	}
	for o, err := range s.Store.List(ctx, objectstore.SessionsPrefix) {
		if err != nil {
			return nil, err
		}
		p, _, ok := parseSession(o.Key)
		if !ok || now.Sub(p.day().Add(24*time.Hour)) <= age {
			continue
		}
		name := sessionPrefix(o.Key)
		if name != d.Name {
			end()
			d = Deletion{Kind: KindSession, Name: name}
		}
		newest = later(newest, o.Modified)
		d.Objects, d.Bytes = d.Objects+1, d.Bytes+o.Bytes
		if o.Key == name+store.ManifestName {
			manifest = o.Key
		} else {
			d.keys = append(d.keys, o.Key)
		}
	}
	end()
	return plan, nil
}

// parseSession splits the key of a session's file.
func parseSession(key string) (p partition, folder string, ok bool) {
	parts := strings.SplitN(key, "/", 5)
	if len(parts) < 5 {
		return p, "", false
	}
	p, folder, ok = parsePartition(strings.Join(parts[:4], "/"), objectstore.SessionsPrefix)
	_, named := strings.CutPrefix(folder, "session=")
	return p, folder, ok && named
}

func sessionPrefix(key string) string {
	return strings.Join(strings.SplitN(key, "/", 5)[:4], "/") + "/"
}

func planRollups(ctx context.Context, s *meter, p Policy, now time.Time) (plan []Deletion, err error) {
	all, err := listPartitions(ctx, s, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, of := range slices.SortedFunc(maps.Keys(all), func(a, b partition) int {
		return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.service, b.service))
	}) {
		age, x := now.Sub(of.day().Add(24*time.Hour)), all[of]
		if (p.Detail == 0 || age <= p.Detail) && (p.Day == 0 || age <= p.Day) {
			continue
		}
		err := x.read(ctx, s)
		if wrong := x.unsound(); err == nil && len(wrong) > len(x.odd) {
			err = errors.New(wrong[0].Why)
		}
		if err != nil {
			plan = append(plan, Deletion{Kind: KindManifest, Name: manifestPrefix + of.String(), Skipped: err.Error()})
			continue
		}
		plan = append(plan, x.plan(p, age, now)...)
	}
	return plan, nil
}

// plan is what of a partition is old enough.
func (s *state) plan(p Policy, age time.Duration, now time.Time) (plan []Deletion) {
	live, _ := s.live()
	for _, l := range Levels {
		most := p.Day
		if l == Detail {
			most = p.Detail
		}
		d := Deletion{Kind: string(l), Name: levelPrefix(l) + s.partition.String(), partition: s.partition, level: l}
		for i := range s.current.Files {
			if f := &s.current.Files[i]; f.Level == l {
				d.keys, d.Objects, d.Bytes = append(d.keys, f.key(s.partition)), d.Objects+1, d.Bytes+f.Bytes
			}
		}
		if most == 0 || age <= most || d.Objects == 0 && len(live) == 0 {
			continue
		}
		if len(live) > 0 {
			d.Skipped = fmt.Sprintf("%d files of sessions are not compacted yet; shadow fleet compact does it", len(live))
		}
		plan = append(plan, d)
	}
	// Without files for so long, not even the manifests are needed.
	if p.Day > 0 && age > p.Day+manifestsAfter && s.number > 0 && len(s.current.Files) == 0 && len(live) == 0 && now.Sub(s.listed.Modified) > manifestsAfter {
		d := Deletion{Kind: KindManifest, Name: manifestPrefix + s.partition.String()}
		for i := range s.fresh {
			d.keys, d.Bytes = append(d.keys, s.fresh[i].object.Key), d.Bytes+s.fresh[i].object.Bytes
		}
		for _, o := range append(s.older, s.listed) { // the one that counts last
			d.keys, d.Bytes = append(d.keys, o.Key), d.Bytes+o.Bytes
		}
		d.Objects = len(d.keys)
		plan = append(plan, d)
	}
	return plan
}

// Apply deletes what Plan has listed, and calls done after each. What is interrupted is planned again.
func Apply(ctx context.Context, s objectstore.Store, plan []Deletion, now time.Time, done func(Deletion)) error {
	m := newMeter(s, parallel)
	var errs []error
	for _, d := range plan {
		if d.Skipped != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.apply(ctx, m, now); err != nil {
			errs = append(errs, fmt.Errorf("deleting %s of %s: %w", d.Name, s, err))
			continue
		}
		done(d)
	}
	return errors.Join(errs...)
}

func (d *Deletion) apply(ctx context.Context, s *meter, now time.Time) error {
	if d.level != "" {
		if err := d.leaveOut(ctx, s, now); err != nil {
			return err
		}
	}
	if d.Kind == KindSession && len(d.keys) > 0 { // the manifest is gone before anything else goes
		if err := s.Delete(ctx, d.keys[0]); err != nil {
			return err
		}
	}
	errs := make([]error, len(d.keys))
	if d.Kind == KindManifest {
		for i, k := range d.keys { // one after another, for the order
			if errs[i] = s.Delete(ctx, k); errs[i] != nil {
				break
			}
		}
		return errors.Join(errs...)
	}
	inParallel(len(d.keys), func(i int) { errs[i] = s.Delete(ctx, d.keys[i]) })
	return errors.Join(errs...)
}

// leaveOut writes a manifest without the files of a level. Should a compactor write one at the same time, it is tried with
// the next pass.
func (d *Deletion) leaveOut(ctx context.Context, s *meter, now time.Time) error {
	x := &state{partition: d.partition}
	if err := x.relist(ctx, s); err != nil {
		return err
	}
	drop := map[string]bool{}
	for _, k := range d.keys {
		drop[k] = true
	}
	next := x.successor(now)
	next.Files = slices.DeleteFunc(next.Files, func(f dataFile) bool { return drop[f.key(d.partition)] })
	if !slices.Contains(next.Removed, d.level) {
		next.Removed = append(next.Removed, d.level)
	}
	won, err := putManifest(ctx, s, d.partition, x.number+1, next)
	if err == nil && !won {
		err = errContested
	}
	return err
}

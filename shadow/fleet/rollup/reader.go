package rollup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stackagent/internal/label"
	"stackagent/shadow/store/objectstore"
)

// parallel is how many requests a question has on their way at once.
const parallel = 64

// Query chooses rows of a store.
type Query struct {
	From, To time.Time // windows that begin at From or later and before To; on levels of days: all days that they touch. The zero times are no bounds
	Services []string  // globs; nil: all. "unknown" also matches sessions that name no service
	// Sees says whose roll-ups may be read; others are as if they were not there. nil: everybody's.
	Sees    func(service string) bool
	Level   Level    // "": Detail
	Columns Columns  // 0: all
	Metrics []string // nil: all
}

// Missing says what a question should have read and could not, and why.
type Missing struct {
	Key string // an object, or the beginning of the keys of a partition
	Why string
}

// Answer says what a question cost, and what is not in it.
type Answer struct {
	Files, Rows     int64
	Requests, Bytes int64
	Missing         []Missing // by key
}

// Reader reads the roll-ups of a store.
type Reader struct{ store objectstore.Store }

// Open gives a reader of a store. Nothing is read yet.
func Open(s objectstore.Store) *Reader { return &Reader{s} }

// Read passes the rows that a query chooses to use, in no order; rows of a thing and a time may be several, which add up.
// use is not called twice at once; the slice is reused after the call, strings and histograms may be kept. What cannot be
// read is in the answer. An error is one of use or of the context, or that the store cannot be listed.
func (r *Reader) Read(ctx context.Context, q Query, use func([]Row) error) (*Answer, error) {
	q.Level = cmp.Or(q.Level, Detail)
	if !q.Level.valid() {
		return nil, fmt.Errorf("reading roll-ups: there is no level %q", q.Level)
	}
	for _, s := range q.Services {
		if _, err := path.Match(s, ""); err != nil {
			return nil, fmt.Errorf("reading roll-ups: the pattern %q of services: %w", s, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &reading{q: q, store: newMeter(r.store, parallel), use: use, cancel: cancel, answer: &Answer{}}
	all, err := listPartitions(ctx, x.store, q.From, q.To)
	if err != nil {
		return nil, fmt.Errorf("reading roll-ups of %s: %w", r.store, err)
	}
	x.each(ctx, all)
	if x.err == nil {
		x.err = ctx.Err()
	}
	x.answer.Requests, x.answer.Bytes = x.store.requests.Load(), x.store.bytes.Load()
	slices.SortFunc(x.answer.Missing, func(a, b Missing) int { return cmp.Compare(a.Key, b.Key) })
	return x.answer, x.err
}

// listPartitions lists the partitions of a range of days.
func listPartitions(ctx context.Context, s *meter, from, to time.Time) (partitions, error) {
	all := partitions{}
	for _, kind := range []struct {
		prefix string
		add    func(objectstore.Object)
	}{{freshPrefix, all.addFresh}, {manifestPrefix, all.addManifest}} {
		prefixes := datePrefixes(from, to)
		lists, errs := make([][]objectstore.Object, len(prefixes)), make([]error, len(prefixes))
		inParallel(len(prefixes), func(i int) { lists[i], errs[i] = s.list(ctx, kind.prefix+prefixes[i]) })
		for _, err := range errs { // one of them says enough
			if err != nil {
				return nil, err
			}
		}
		for _, list := range lists {
			for _, o := range list {
				kind.add(o)
			}
		}
	}
	for p := range all {
		if day := p.day(); !to.IsZero() && !day.Before(to) || !from.IsZero() && !day.After(from.Add(-24*time.Hour)) {
			delete(all, p)
		}
	}
	return all, nil
}

// inParallel calls do with the numbers below n, some at once.
func inParallel(n int, do func(int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range min(n, parallel) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// reading is a question on its way.
type reading struct {
	q      Query
	store  *meter
	use    func([]Row) error
	cancel context.CancelFunc

	mu     sync.Mutex // guards what follows, and calls of use
	answer *Answer
	err    error
}

// source is a file to read.
type source struct {
	partition
	key    string
	bytes  int64
	fresh  bool
	reduce bool // its rows are of five minutes, and others are asked for
}

func (x *reading) each(ctx context.Context, all partitions) {
	var list []*state
	for _, s := range all {
		if x.mayMatch(s.partition) {
			list = append(list, s)
		}
	}
	found := make([][]source, len(list))
	inParallel(len(list), func(i int) { found[i] = x.sources(ctx, list[i]) })
	files := slices.Concat(found...)
	inParallel(len(files), func(i int) { x.read(ctx, files[i]) })
}

// mangled are names of services in keys that may stand for others, see objectstore.SafeName.
var mangled = regexp.MustCompile(`_[0-9a-f]{12}$`)

// mayMatch reports whether a partition may have rows of the services that are asked for.
func (x *reading) mayMatch(p partition) bool {
	name := p.service
	if name == objectstore.UnknownService {
		name = ""
	}
	if x.q.Sees != nil && !mangled.MatchString(name) && !x.q.Sees(name) {
		return false
	}
	return len(x.q.Services) == 0 || slices.ContainsFunc(x.q.Services, func(glob string) bool {
		if !strings.ContainsAny(glob, `*?[\`) {
			return objectstore.SafeName(glob) == p.service || glob == p.service
		}
		return label.Glob(glob, p.service) || mangled.MatchString(p.service)
	})
}

// matches reports whether a service is one of those that are asked for.
func (x *reading) matches(service string) bool {
	if x.q.Sees != nil && !x.q.Sees(service) {
		return false
	}
	return len(x.q.Services) == 0 || slices.ContainsFunc(x.q.Services, func(glob string) bool {
		return label.Glob(glob, cmp.Or(service, objectstore.UnknownService))
	})
}

// sources are the files of a partition that count: those of the highest manifest, and those of sessions that it does not
// cover.
func (x *reading) sources(ctx context.Context, s *state) (list []source) {
	if err := s.read(ctx, x.store); err != nil {
		x.missing(manifestKey(s.partition, s.number), err)
		return nil
	}
	live, bad := s.live()
	for _, m := range append(bad, s.unsound()...) {
		x.missing(m.Key, errors.New(m.Why))
	}
	for _, f := range live {
		list = append(list, source{partition: s.partition, key: f.object.Key, bytes: f.object.Bytes, fresh: true, reduce: x.q.Level != Detail})
	}
	for i := range s.current.Files {
		f := &s.current.Files[i]
		if f.Level != x.q.Level || x.q.Level == Detail && !x.inTime(f.First, f.Last) {
			continue
		}
		list = append(list, source{partition: s.partition, key: f.key(s.partition), bytes: f.Bytes})
	}
	if slices.Contains(s.current.Removed, x.q.Level) {
		x.missing(levelPrefix(x.q.Level)+s.String(), errors.New("these rows were deleted for their age; other levels may have their sums"))
	}
	return list
}

// live are the files of sessions that the manifest does not cover, and what is wrong with others.
func (s *state) live() (list []freshFile, bad []Missing) {
	taken := map[string][]freshFile{}
	for i := range s.fresh {
		f := &s.fresh[i]
		covered, err := s.current.covers(f)
		for _, g := range taken[f.folder] {
			if err == nil && g.rng.From <= f.rng.To && f.rng.From <= g.rng.To {
				err = fmt.Errorf("its batches %d-%d are in part in another file of the session", f.rng.From, f.rng.To)
			}
		}
		switch {
		case err != nil:
			bad = append(bad, Missing{f.object.Key, err.Error()})
		case !covered:
			taken[f.folder] = append(taken[f.folder], *f)
			list = append(list, *f)
		}
	}
	return list, bad
}

func (x *reading) inTime(first, last int64) bool {
	return (x.q.From.IsZero() || last >= x.q.From.UnixNano()) && (x.q.To.IsZero() || first < x.q.To.UnixNano())
}

func (x *reading) missing(key string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer.Missing = append(x.answer.Missing, Missing{key, err.Error()})
}

// selection is what is read of files.
func (x *reading) selection(reduce bool) Selection {
	s := Selection{Columns: x.q.Columns, Metrics: x.q.Metrics}
	if s.Columns != 0 {
		s.Columns |= ColumnService | ColumnWindow // to check where they belong
	}
	if x.q.Level == Detail {
		if !x.q.From.IsZero() {
			s.FromUnixNs = max(x.q.From.UnixNano(), 0)
		}
		if !x.q.To.IsZero() {
			s.ToUnixNs = max(x.q.To.UnixNano(), 1)
		}
	}
	return s
}

// read reads one file. Rows of a file that turns out to be damaged may have been passed on; then the answer says so.
func (x *reading) read(ctx context.Context, f source) {
	if ctx.Err() != nil {
		return
	}
	var n int64
	err := readFile(ctx, x.store, f.key, f.bytes, x.selection(f.reduce), func(rows []Row) error {
		if err := f.partition.check(rows); err != nil {
			return err
		}
		if len(x.q.Services) > 0 || x.q.Sees != nil {
			rows = slices.DeleteFunc(rows, func(r Row) bool { return !x.matches(r.Service) })
		}
		if f.reduce {
			for i := range rows {
				rows[i].reduce(x.q.Level)
			}
		}
		n += int64(len(rows))
		return x.pass(rows)
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer.Rows += n
	switch {
	case errors.Is(err, errUse) || ctx.Err() != nil:
	case err != nil:
		why := err.Error()
		if n > 0 {
			why = fmt.Sprintf("read in part, %d rows: %s", n, why)
		}
		x.answer.Missing = append(x.answer.Missing, Missing{f.key, why})
	default:
		x.answer.Files++
	}
}

// errUse stops reading after an error of the caller, which is kept.
var errUse = errors.New("stopped")

func (x *reading) pass(rows []Row) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil && len(rows) > 0 {
		if x.err = x.use(rows); x.err != nil {
			x.cancel()
		}
	}
	if x.err != nil {
		return errUse
	}
	return nil
}

// reduce makes a row one of a level of days. Of rows in the order of Compare, those that become equal on level Day follow
// one another.
func (r *Row) reduce(l Level) {
	if l == Detail {
		return
	}
	r.WindowUnixNs = startOfDay(time.Unix(0, r.WindowUnixNs)).UnixNano()
	r.Session = ""
	if l == Day {
		r.Instance, r.Labels = "", ""
	} else {
		r.Executor, r.Class, r.Site, r.Platform = "", "", "", false
	}
}

package rollup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stackagent/internal/parquet"
	"stackagent/shadow/store/objectstore"
)

// LiveFile is a file of roll-ups that counts at the moment.
type LiveFile struct {
	Key         string
	Bytes, Rows int64
	Day         time.Time // of all its rows
	Service     string    // of all rows; "": they name none
}

// LiveFiles lists the files of a level that count, by key, and the rows that their footers promise. On levels of days, files of
// sessions that are not compacted yet are among them, with rows of five minutes. The others are missing.
func LiveFiles(ctx context.Context, from objectstore.Store, l Level) ([]LiveFile, []Missing, error) {
	x := &reading{q: Query{Level: l}, store: newMeter(from, parallel), answer: &Answer{}}
	all, err := listPartitions(ctx, x.store, time.Time{}, time.Time{})
	if err != nil {
		return nil, nil, fmt.Errorf("reading roll-ups of %s: %w", from, err)
	}
	var states []*state
	for _, s := range all {
		states = append(states, s)
	}
	found := make([][]source, len(states))
	inParallel(len(states), func(i int) { found[i] = x.sources(ctx, states[i]) })
	sources := slices.Concat(found...)
	files := make([]LiveFile, len(sources))
	inParallel(len(sources), func(i int) {
		s := &sources[i]
		f := LiveFile{Key: s.key, Bytes: s.bytes, Day: s.day()}
		err := parquet.Groups(&file{ctx, x.store, s.key}, s.bytes, func(_ *parquet.File, groups []*parquet.Group) error { return f.look(s.partition, groups) })
		if err != nil {
			x.missing(s.key, err)
		} else {
			files[i] = f
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(f LiveFile) bool { return f.Rows == 0 })
	slices.SortFunc(files, func(a, b LiveFile) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(x.answer.Missing, func(a, b Missing) int { return cmp.Compare(a.Key, b.Key) })
	return files, x.answer.Missing, nil
}

// look takes what a footer says. All rows must be of the partition, as those that are read must be.
func (f *LiveFile) look(p partition, groups []*parquet.Group) error {
	for _, g := range groups {
		if g.Rows() == 0 {
			continue
		}
		service, last, known := g.StringBounds("service_name")
		from, to, timed := g.Int64Bounds(windowColumn)
		if !known || !timed {
			return errors.New("its footer does not say of which service and time its rows are")
		}
		if service != last || f.Rows > 0 && service != f.Service {
			return fmt.Errorf("%w: of the services %.40q to %.40q", errForeign, service, last)
		}
		for _, at := range []int64{from, to} {
			if err := p.checkRow(&Row{Service: service, WindowUnixNs: time.UnixMicro(at).UnixNano()}); err != nil {
				return err
			}
		}
		f.Service = service
		f.Rows += int64(g.Rows())
	}
	return nil
}

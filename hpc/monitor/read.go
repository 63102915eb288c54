package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/internal/parquet"
	"stackagent/internal/units"
)

// mostInterval is beyond what any source takes.
const mostInterval = units.Ns(time.Minute)

// Reader reads the samples of a session.
type Reader struct {
	dir    string
	head   Head
	damage map[string]error // by file
}

// Open reads what a session's folder has of samples. Without any it returns nil and no error.
func Open(sessionDir string) (*Reader, error) {
	r, err := openFolder(filepath.Join(sessionDir, Folder))
	if checksum.Missing(err) {
		return nil, nil
	}
	return r, err
}

func openFolder(dir string) (*Reader, error) {
	f, _, err := checksum.OpenRegular(filepath.Join(dir, headName), maxHeadBytes, ErrDamaged)
	b, err := bounded.All(f, maxHeadBytes, err)
	if err != nil {
		return nil, fmt.Errorf("reading samples: %w", err)
	}
	h, err := parseHead(b)
	if err != nil {
		return nil, fmt.Errorf("reading samples: %s: %w", filepath.Join(dir, headName), err)
	}
	return &Reader{dir: dir, head: h, damage: map[string]error{}}, nil
}

func parseHead(b []byte) (Head, error) {
	var h Head
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	if h.Version > Version {
		return h, fmt.Errorf("version %d: %w", h.Version, ErrVersion)
	}
	if err := checksum.CheckJSON(b); err != nil {
		return h, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if h.Version < 1 || h.IntervalNs <= 0 || len(h.Monitors) > maxMonitors || len(h.Files) > maxParts {
		return h, fmt.Errorf("version %d, an interval of %d ns, %d monitors, %d files: %w", h.Version, h.IntervalNs, len(h.Monitors), len(h.Files), ErrDamaged)
	}
	if h.IntervalNs > mostInterval || h.Samples < 0 || h.Missed < 0 || h.Dropped < 0 || h.CPUNs < 0 {
		return h, fmt.Errorf("an interval of %d ns, %d samples, %d missed, %d dropped: %w", h.IntervalNs, h.Samples, h.Missed, h.Dropped, ErrDamaged)
	}
	for _, d := range h.Monitors {
		if d.Interval < 0 || d.Interval > mostInterval {
			return h, fmt.Errorf("a monitor that is read every %d ns: %w", d.Interval, ErrDamaged)
		}
		if d.Name == "" || len(d.Name) > maxName {
			return h, fmt.Errorf("a monitor with a name of %d bytes: %w", len(d.Name), ErrDamaged)
		}
	}
	return h, nil
}

// Head is what is known of the samples. Do not change it.
func (r *Reader) Head() *Head { return &r.head }

// Damage lists the parts that could not be read so far.
func (r *Reader) Damage() (all []error) {
	for _, name := range slices.Sorted(maps.Keys(r.damage)) {
		all = append(all, r.damage[name])
	}
	return all
}

// Each calls use for all rows in the order of time. The row is reused. Damaged parts are left out; see Damage.
func (r *Reader) Each(use func(*Row) error) error {
	last := int64(math.MinInt64)
	for seq := range len(r.head.Files) {
		name := partName(seq)
		want, ok := r.head.Files[name]
		if !ok {
			r.damage[name] = fmt.Errorf("%s: the file is missing: %w", name, ErrDamaged)
			continue
		}
		err := r.part(name, want, func(row *Row) error {
			if row.AtNs < last {
				return fmt.Errorf("a sample at %d after one at %d: %w", row.AtNs, last, ErrDamaged)
			}
			last = row.AtNs
			return use(row)
		})
		switch {
		case errors.Is(err, ErrDamaged):
			r.damage[name] = fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return fmt.Errorf("reading samples: %s: %w", name, err)
		}
	}
	return nil
}

func (r *Reader) part(name string, want checksum.File, use func(*Row) error) error {
	path := filepath.Join(r.dir, name)
	f, size, err := checksum.OpenRegular(path, maxPartBytes, ErrDamaged)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer f.Close()
	if err := want.CheckFile(path, f); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	err = parquet.Read(f, size, func(pf *parquet.File) error {
		if n := pf.NumRows(); n < 0 || n > maxPartRows {
			return fmt.Errorf("%d rows: %w", n, ErrDamaged)
		}
		return parquet.EachRow(pf, use)
	})
	if errors.Is(err, parquet.ErrDamaged) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/fleet/rollup"
)

// Versions collects, for each version of a service, what each instance of it did. An instance is what a run is in shadow
// diff: the spread of its figures over the instances says what counts as a difference.
type Versions struct {
	Select   Select
	versions map[string]map[string]*instance // by version, by instance
}

// instance is what one instance of a version did.
type instance struct {
	groups  *Groups
	windows map[int64]struct{} // in which it did anything
}

// mostInstances bounds those of all versions together.
const mostInstances = 20_000

// ErrTooMany is returned for a question about more than is held at once.
var ErrTooMany = errors.New("too much for one question")

// NewVersions begins a comparison.
func NewVersions(s Select) *Versions {
	return &Versions{Select: NewGroups(Class, s).Select, versions: map[string]map[string]*instance{}}
}

// Add takes rows of one service that tell instances and classes apart.
func (v *Versions) Add(rows []rollup.Row) error {
	for i := range rows {
		r := &rows[i]
		if !v.Select.passes(r) {
			continue
		}
		x, err := v.instance(r.Version, r.Instance)
		if err != nil {
			return err
		}
		x.windows[r.WindowUnixNs] = struct{}{}
		plain := *r
		plain.Index, plain.Buckets = nil, nil // means are compared
		if err := x.groups.Add([]rollup.Row{plain}); err != nil {
			return err
		}
	}
	return nil
}

func (v *Versions) instance(version, name string) (*instance, error) {
	of := v.versions[version]
	if of == nil {
		of = map[string]*instance{}
		v.versions[version] = of
	}
	x := of[name]
	if x == nil {
		n := 0
		for _, m := range v.versions {
			n += len(m)
		}
		if n >= mostInstances {
			return nil, fmt.Errorf("%w: more than %d instances; narrow it by --env, --instance or a shorter time", ErrTooMany, mostInstances)
		}
		x = &instance{groups: NewGroups(Class, v.Select), windows: map[int64]struct{}{}}
		of[name] = x
	}
	return x, nil
}

// Versions are those that were seen: the one whose first window is the latest comes last.
func (v *Versions) Versions() []string {
	first := map[string]int64{}
	for version, instances := range v.versions {
		for _, x := range instances {
			for w := range x.windows {
				if f, ok := first[version]; !ok || w < f {
					first[version] = w
				}
			}
		}
	}
	list := slices.Sorted(maps.Keys(first))
	slices.SortStableFunc(list, func(a, b string) int { return int(min(1, max(-1, first[a]-first[b]))) })
	return list
}

// Compare compares two versions, class by class.
func (v *Versions) Compare(a, b string) (*diff.Diff, error) {
	var sides [2][]*diff.Run
	for k, version := range []string{a, b} {
		if sides[k] = v.runs(version); len(sides[k]) == 0 {
			return nil, fmt.Errorf("there is nothing of version %q; there is of %s", version, strings.Join(v.Versions(), ", "))
		}
	}
	d, err := diff.Compare(sides[0], sides[1], []diff.By{diff.Each})
	if err != nil {
		return nil, err
	}
	d.A.Program, d.B.Program = a, b // what the sides are; that programs differ is no caution here
	return d, nil
}

// runs are the instances of a version.
func (v *Versions) runs(version string) (list []*diff.Run) {
	of := v.versions[version]
	for _, name := range slices.Sorted(maps.Keys(of)) {
		x := of[name]
		hours := (time.Duration(len(x.windows)) * rollup.Window).Hours()
		r := &diff.Run{Session: name, Rows: map[diff.Key]map[string]float64{{By: diff.Whole}: {}}, NotAvailable: map[diff.By]string{}}
		for _, row := range x.groups.Rows(ByName) {
			n := float64(row.Executions())
			if n == 0 || row.Name == "" {
				continue
			}
			f := map[string]float64{"per_hour": n / hours, "threw_share": float64(row.Metric(rollup.Threw).Count) / n}
			for figure, s := range map[string]*rollup.Cell{"work_ns": row.Work(), "wall_ns": row.Metric(Wall), "queue_ns": row.Metric(Queue), "response_ns": row.Metric(rollup.Response)} {
				if s.Count > 0 {
					f[figure] = s.Mean()
				}
			}
			r.Rows[diff.Key{By: diff.Each, Name: row.Name}] = f
		}
		list = append(list, r)
	}
	return list
}

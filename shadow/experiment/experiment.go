package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackagent/internal/text"
)

// Launch makes one run at a point, in a folder that does not exist yet. An error means that the run could
// not be made at all (no agent, no space): it is no result.
type Launch func(ctx context.Context, folder string, p Point, invocation int) (Outcome, error)

// Options say how runs are made.
type Options struct {
	Launch Launch
	// Others is the share of the machine's CPU time above which a run counts as disturbed; 0: none does.
	Others float64
	// Attempts is how often a disturbed run is made at most.
	Attempts int
	// Tell is called after each run and attempt; nil: nobody is told.
	Tell func(Progress)
	// Again makes runs that failed anew, in place of taking their failure as the result.
	Again bool
	// Kept reports whether what a run left in its folder is still there; one without it is made anew. nil: it always is.
	Kept func(folder string) bool
}

// Progress is what is known after a run.
type Progress struct {
	Result      *Result
	Done, Total int           // runs of this batch; Total 0: not known
	Left        time.Duration // estimated from the runs so far; 0: not known
	Repeats     bool          // the run was disturbed and will be made again
}

// Experiment is an open folder.
type Experiment struct {
	Plan  Plan
	Notes []string // what the user should know about how it was opened

	dir     string
	options Options
	journal *journal
	results []*Result // the last attempt of each run
	spent   time.Duration
	fresh   int // runs made since it was opened
	lock    *os.File
}

// Open makes the folder of an experiment, or goes on with the one that is there.
func Open(dir string, plan Plan, o Options) (*Experiment, error) {
	x := &Experiment{dir: dir, options: o}
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the experiment: %w; choose another with -o", err)
	}
	var err error
	if x.lock, err = lock(dir); err != nil {
		return nil, err
	}
	if err := x.open(plan); err != nil {
		x.lock.Close()
		return nil, err
	}
	return x, nil
}

func (x *Experiment) open(plan Plan) error {
	plan.Version = planVersion
	if plan.Settings == nil {
		plan.Settings = []string{}
	}
	if plan.Points == nil {
		plan.Points = []Point{}
	}
	old, err := readPlan(x.dir)
	switch {
	case err != nil:
		return err
	case old == nil:
		if err := onlyOurs(x.dir); err != nil {
			return err
		}
		plan.Host, plan.Seed = ThisHost(), cmp.Or(plan.Seed, uint64(time.Now().UnixNano()))
	default:
		if why := old.unlike(&plan); why != "" {
			return fmt.Errorf("%s holds another experiment: %s; choose another folder with -o, or remove it", x.dir, why)
		}
		if here := ThisHost(); here != old.Host {
			x.Notes = append(x.Notes, fmt.Sprintf("the experiment began on another machine, or this one was changed (%s, %d CPUs, kernel %s; now %s, %d CPUs, kernel %s): do not compare times of the two",
				old.Host.Name, old.Host.CPUs, old.Host.Kernel, here.Name, here.CPUs, here.Kernel))
		}
		plan.Host, plan.Seed, plan.Java, plan.Named = old.Host, old.Seed, cmp.Or(plan.Java, old.Java), old.withNamed(&plan)
	}
	x.Plan = plan
	if err := writePlan(x.dir, &plan); err != nil {
		return err
	}
	var all []*Result
	if x.journal, all, err = openJournal(x.dir); err != nil {
		return err
	}
	for _, r := range all {
		x.keep(r)
	}
	if n := len(x.results); n > 0 {
		x.Notes = append(x.Notes, text.PluralExact(n, "run is", "runs are")+" there already")
	}
	return nil
}

// keep takes r in, in place of an earlier attempt.
func (x *Experiment) keep(r *Result) {
	if i := x.find(r.Point, r.Invocation); i >= 0 {
		x.results[i] = r
		return
	}
	x.results = append(x.results, r)
}

func (x *Experiment) find(p Point, invocation int) int {
	return slices.IndexFunc(x.results, func(r *Result) bool { return r.Invocation == invocation && slices.Equal(r.Point, p) })
}

// Results are the runs so far, the last attempt of each.
func (x *Experiment) Results() []*Result { return x.results }

// Of are the results at a point by invocation, warm-ups left out.
func (x *Experiment) Of(p Point) []*Result {
	var out []*Result
	for _, r := range x.results {
		if r.Invocation > 0 && slices.Equal(r.Point, p) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Result) int { return cmp.Compare(a.Invocation, b.Invocation) })
	return out
}

// Good are the results at a point of the invocations up to last, without those that failed.
func (x *Experiment) Good(p Point, last int) []*Result {
	return slices.DeleteFunc(x.Of(p), func(r *Result) bool { return r.Failed() || r.Invocation > last })
}

// Path is the folder of a run.
func (x *Experiment) Path(r *Result) string { return filepath.Join(x.dir, r.Folder) }

// All makes each run of the plan that has no result yet, and warmups runs of each point before.
func (x *Experiment) All(ctx context.Context, warmups int) error {
	return x.Batch(ctx, x.Plan.Points, 1-warmups, x.Plan.Invocations)
}

// Batch makes the runs of some points, invocation by invocation, in random order within each.
func (x *Experiment) Batch(ctx context.Context, points []Point, first, last int) error {
	type run struct {
		p          Point
		invocation int
	}
	var todo []run
	for i := first; i <= last; i++ {
		for _, p := range x.Plan.shuffled(points, i) {
			if x.result(p, i) == nil {
				todo = append(todo, run{p, i})
			}
		}
	}
	for n, r := range todo {
		if _, err := x.do(ctx, r.p, r.invocation, n, len(todo)); err != nil {
			return err
		}
	}
	return nil
}

// result is the result of a run that need not be made again; nil: there is none.
func (x *Experiment) result(p Point, invocation int) *Result {
	i := x.find(p, invocation)
	if i < 0 {
		return nil
	}
	r := x.results[i]
	switch {
	case r.Failed() && x.options.Again:
		return nil
	case !r.Failed() && invocation > 0 && x.options.Kept != nil && !x.options.Kept(x.Path(r)):
		return nil
	}
	return r
}

// Do is the result of one run, which is made if it was not yet.
func (x *Experiment) Do(ctx context.Context, p Point, invocation int) (*Result, error) {
	if r := x.result(p, invocation); r != nil {
		return r, nil
	}
	return x.do(ctx, p, invocation, 0, 0)
}

func (x *Experiment) do(ctx context.Context, p Point, invocation, done, total int) (*Result, error) {
	for attempt := 1; ; attempt++ {
		r, err := x.attempt(ctx, p, invocation, attempt)
		if err != nil {
			return nil, err
		}
		again := r.Disturbed != "" && attempt < x.options.Attempts
		if tell := x.options.Tell; tell != nil {
			progress := Progress{Result: r, Done: done + 1, Total: total, Repeats: again}
			if again {
				progress.Done--
			}
			if total > 0 {
				progress.Left = x.spent / time.Duration(x.fresh) * time.Duration(total-progress.Done)
			}
			tell(progress)
		}
		if !again {
			return r, nil
		}
	}
}

// attempt makes a run, in the place of an earlier attempt, and records its result.
func (x *Experiment) attempt(ctx context.Context, p Point, invocation, attempt int) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Result{Point: p, Invocation: invocation, Attempt: attempt, Folder: filepath.Join(p.Folder(), runName(invocation))}
	folder := x.Path(r)
	// What is there was disturbed, or was cut short with the experiment.
	if err := os.RemoveAll(folder); err != nil {
		return nil, fmt.Errorf("removing what an unfinished run left: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of a run: %w", err)
	}
	before := readMoment()
	r.Started = before.at
	outcome, err := x.options.Launch(ctx, folder, p, invocation)
	if err == nil {
		err = ctx.Err() // cut short: no result
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s, run %d: %w", p, invocation, err), os.RemoveAll(folder))
	}
	after := readMoment()
	r.Outcome, r.Machine = outcome, between(before, after)
	if x.options.Others > 0 {
		r.Disturbed = r.Machine.disturbance(x.options.Others, after.at.Sub(before.at))
	}
	if invocation < 1 {
		if err := os.RemoveAll(folder); err != nil {
			return nil, fmt.Errorf("removing the folder of a warm-up: %w", err)
		}
	}
	if err := x.journal.add(r); err != nil {
		return nil, err
	}
	x.keep(r)
	x.spent, x.fresh = x.spent+after.at.Sub(before.at), x.fresh+1
	return r, nil
}

func runName(invocation int) string {
	if invocation < 1 {
		return fmt.Sprintf("warmup-%d", 1-invocation)
	}
	return fmt.Sprintf("run-%d", invocation)
}

// Close writes the results as JSON and Parquet, and lets others open the folder.
func (x *Experiment) Close() error {
	return errors.Join(x.write(), x.journal.close(), x.lock.Close())
}

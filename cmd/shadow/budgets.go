package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/expression"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/budget"
	"stackagent/shadow/show/view"
)

// checkFlags are the flags of shadow check.
type checkFlags struct {
	listflags.Flags
	failIf     []string
	files      []string
	baseline   string
	write      string
	output     string
	allowEmpty bool
	each       bool
}

func newCheck(env console.Env) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check DIR... [--fail-if EXPR] [--budget FILE]",
		Short: "Fail a build when the figures of sessions break a budget",
		Long: `Compares the figures of sessions with budgets and exits with 3 if one is broken.
--fail-if names what must not be; a file of budgets says what must hold. DIR is a
session, or a folder with the sessions of repeated runs. Several sessions are runs of
one program: a figure is their mean. --each checks each session on its own.

Names are those of shadow stats --format json, a metric without "metrics.":
cpu_ns.max, queue_ns.p99, tasks.executions, gc.pause_ns, duration_ns. A selector chooses
tasks: class("com.acme.*").cpu_ns.max. There are class, executor, site, and unit for
units of work; units.queue_ns.p99 is of all units of work. Times and sizes have units:
50ms, 1MiB. baseline.cpu_ns.sum is the figure in the baseline, and
within(cpu_ns.sum, 10%) holds if it changed by no more than that; it is not available
where the runs vary too much to tell.

A name that no session has is wrong usage. A selector that matches nothing, and a figure
that a session does not have, neither keep nor break a budget: the result says that it is
not available, and the check fails with 3. --allow-empty reports it and lets it pass.`,
		Example: `  shadow check /tmp/s --fail-if 'queue_ns.p99 > 50ms'
  shadow check /tmp/s --fail-if 'class("com.acme.*").cpu_ns.max > 1ms' --fail-if 'tasks.threw > 0'
  shadow check runs --budget budgets.yaml --write-baseline baseline.yaml
  shadow check runs --budget budgets.yaml --baseline baseline.yaml --format junit -o check.xml
  shadow check runs --budget budgets.yaml --format markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args) },
	}
	f.AddTo(cmd, env, false, "table", "json", "junit", "github", "markdown")
	cmd.Flags().StringArrayVar(&f.failIf, "fail-if", nil, "condition that must not hold, as in 'queue_ns.p99 > 50ms'; repeatable")
	cmd.Flags().StringArrayVar(&f.files, "budget", nil, "file of budgets (YAML); repeatable")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "file of figures to compare with")
	cmd.Flags().StringVar(&f.write, "write-baseline", "", "write the figures that the budgets name, of each run, to this file")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false, "let budgets pass of which a selector matches nothing, or a figure is not available")
	cmd.Flags().BoolVar(&f.each, "each", false, "check each session on its own, not the mean of all")
	return cmd
}

// budgets are those of the files and the command line.
func (f *checkFlags) budgets() ([]*budget.Budget, error) {
	var all []*budget.Budget
	for _, path := range f.files {
		list, err := readPlain(path, budget.Read)
		if err != nil {
			return nil, &console.UsageError{Err: err}
		}
		all = append(all, list...)
	}
	for _, expression := range f.failIf {
		b, err := budget.FailIf(expression)
		if err != nil {
			return nil, console.Usagef("--fail-if %s: %v", text.OneLine(text.Cut(expression, 200)), err)
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil, console.Usagef("missing budgets: give --fail-if or --budget")
	}
	if f.each && (f.baseline != "" || f.write != "") {
		return nil, console.Usagef("--each and baselines exclude each other: a baseline is compared with all runs together")
	}
	if f.write != "" && (f.baseline != "" || f.output != "" || f.allowEmpty) {
		return nil, console.Usagef("--write-baseline checks nothing: use it without --baseline, --allow-empty and -o")
	}
	return all, nil
}

// readPlain opens a file and reads it.
func readPlain[T any](path string, read func(io.Reader, string) (T, error)) (out T, err error) {
	f, err := files.OpenPlain(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	return read(f, path)
}

// sameFile reports whether two names are of one file that exists.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (f *checkFlags) run(env console.Env, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	all, err := f.budgets()
	if err != nil {
		return err
	}
	baseline := (*budget.Baseline)(nil)
	if err := replaceable(f.write); err != nil {
		return err
	}
	if f.baseline != "" {
		if baseline, err = readPlain(f.baseline, budget.ReadBaseline); err != nil {
			return &console.UsageError{Err: err}
		}
	}
	for _, input := range append(slices.Clone(f.files), f.baseline) {
		if sameFile(input, f.output) {
			return console.Usagef("-o %s: this is what is read; choose another file", f.output)
		}
	}
	dirs, copies, err := choice.Sessions(env, args)
	if err != nil {
		return err
	}
	names := budget.Names(all)
	if f.write != "" {
		for _, n := range budget.BaselineNames(all) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	runs, err := readFigures(env, dirs, names, f.each)
	if err != nil {
		return err
	}
	report := &budget.Report{AllowEmpty: f.allowEmpty, Sessions: runs.sessions, Notes: append(copies, runs.notes...)}
	if f.write != "" {
		return f.writeBaseline(env, runs, names)
	}
	if baseline != nil {
		if why := baseline.Unlike(runs.program, runs.jvm, runs.cpus); why != "" {
			report.Notes = append(report.Notes, text.OneLine(why))
		}
	}
	if err := checkBudgets(report, all, runs, baseline, names, f.each); err != nil {
		return err
	}
	for _, n := range report.Notes {
		env.Note("%s", table.Clean(n))
	}
	if err := files.Write(env.Out, f.output, func(w io.Writer) error { return f.print(w, report) }); err != nil {
		return err
	}
	if f.Format != "table" || f.output != "" {
		env.Note("%s", report.Text())
	}
	if report.Failed() {
		return &console.ExitError{Code: console.ExitBroken}
	}
	return nil
}

// checkBudgets evaluates the budgets, over all runs together or over each.
func checkBudgets(report *budget.Report, all []*budget.Budget, runs *figureRuns, baseline *budget.Baseline, names []budget.Name, each bool) error {
	groups := [][]map[budget.Selector]budget.Tree{runs.trees}
	if each {
		groups = groups[:0]
		for i := range runs.trees {
			groups = append(groups, runs.trees[i:i+1])
		}
	}
	for i, group := range groups {
		figures, err := budget.Gather(names, group)
		if err != nil {
			return usageOf(err)
		}
		figures.Baseline = baseline
		of := ""
		if each && len(groups) > 1 {
			of = runs.sessions[i]
		}
		report.Results = append(report.Results, budget.Check(all, figures, of)...)
	}
	budget.Excuse(report.Results)
	return nil
}

// usageOf makes wrong usage of a name that no session has.
func usageOf(err error) error {
	var e *expression.Error
	if errors.As(err, &e) {
		return console.Usagef("%s: %s", text.OneLine(e.Expr), e.Text)
	}
	return err
}

func (f *checkFlags) writeBaseline(env console.Env, runs *figureRuns, names []budget.Name) error {
	figures, err := budget.Gather(names, runs.trees)
	if err != nil {
		return usageOf(err)
	}
	b, missing := budget.NewBaseline(figures, names)
	for _, n := range missing {
		env.Note("left out of the baseline: %s", table.Clean(figures.Sample(n).Missing(n)))
	}
	if b.Len() == 0 {
		return errors.New("no figure of the budgets is available: no baseline written")
	}
	b.Program, b.JVM, b.CPUs = runs.program, runs.jvm, runs.cpus
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	err = files.Write(nil, f.write, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	env.Note("%s of %s in %s", text.PluralExact(int64(b.Len()), "figure", "figures"), text.PluralExact(int64(len(runs.trees)), "run", "runs"), f.write)
	return os.Chmod(f.write, 0o644) // it goes beside the code, not with the private sessions
}

// replaceable refuses to write a baseline over a file of another kind.
func replaceable(path string) error {
	if _, err := os.Stat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := readPlain(path, budget.ReadBaseline); err != nil {
		return console.Usagef("--write-baseline %s: there is a file that is no baseline (%v); choose another name, or remove it", text.OneLine(path), err)
	}
	return nil
}

func (f *checkFlags) print(w io.Writer, r *budget.Report) error {
	switch f.Format {
	case "json":
		return view.Encode(w, r.JSON())
	case "junit":
		return r.JUnit(w)
	case "github":
		return r.GitHub(w)
	case "markdown":
		return r.Markdown(w)
	}
	if err := view.Table(w, f.TableOptions(f.output != ""), r.Results, resultColumns(r)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Text())
	return err
}

// resultColumns are the columns of the terminal.
func resultColumns(r *budget.Report) []listing.Column[*budget.Result] {
	columns := []listing.Column[*budget.Result]{
		{Title: "state", Kind: listing.Word, Show: func(x *budget.Result) string {
			switch {
			case x.State == budget.NotAvailable:
				return "not available"
			case x.State == budget.Broken && x.Severity == budget.SeverityWarning:
				return "warning"
			}
			return string(x.State)
		}},
		{Title: "budget", Kind: listing.Name, Show: func(x *budget.Result) string { return x.Name }},
	}
	if slices.ContainsFunc(r.Results, func(x *budget.Result) bool { return x.Of != "" }) {
		columns = append(columns, listing.Column[*budget.Result]{Title: "session", Kind: listing.Name, Show: func(x *budget.Result) string { return x.Of }})
	}
	return append(columns, listing.Column[*budget.Result]{Title: "figures", Kind: listing.Name, Wraps: true, Show: (*budget.Result).Text})
}

// figureRuns are the figures of sessions.
type figureRuns struct {
	sessions     []string
	trees        []map[budget.Selector]budget.Tree
	program, jvm string // of the first
	cpus         int
	notes        []string // what keeps their figures from being exact or compared
}

// readFigures reads sessions; those that are not looked at each on its own must be runs of one program.
func readFigures(env console.Env, dirs []string, names []budget.Name, each bool) (*figureRuns, error) {
	selectors, err := budget.Selectors(names)
	if err != nil {
		return nil, &console.UsageError{Err: err}
	}
	if len(selectors) == 0 { // budgets about the baseline alone
		selectors = []budget.Selector{{}}
	}
	runs := &figureRuns{}
	for _, dir := range dirs {
		s, err := env.Open(dir)
		if err != nil {
			return nil, err
		}
		before, trees, judging := len(s.Warnings), map[budget.Selector]budget.Tree{}, judge(s)
		for _, x := range selectors {
			of := judging
			if !slices.ContainsFunc(names, func(n budget.Name) bool { return n.Selector == x && n.Judged() }) {
				of = nil // it takes long
			}
			sum, tree, err := treeOf(env, s, x, of)
			if err != nil {
				return nil, err
			}
			trees[x] = tree
			for _, gap := range sum.Gaps() {
				if !slices.Contains(runs.notes, gap) {
					runs.notes = append(runs.notes, gap)
				}
			}
			if program := sum.JVM.MainClass; len(runs.trees) > 0 && program != runs.program && !each {
				return nil, console.Usagef("%s is a session of %s, %s of %s: they are no runs of one program; --each checks each on its own",
					dirs[0], cmp.Or(table.Clean(runs.program), "an unknown program"), dir, cmp.Or(table.Clean(program), "an unknown program"))
			}
			if len(runs.trees) == 0 {
				runs.program, runs.jvm, runs.cpus = sum.JVM.MainClass, sum.JVM.Version, sum.JVM.CPUs
			}
		}
		env.NoteFound(s, before)
		runs.sessions, runs.trees = append(runs.sessions, summarySession(s.Manifest.Session, dir)), append(runs.trees, trees)
	}
	return runs, nil
}

// summarySession names a session as a user knows it: by its folder where the session has no name.
func summarySession(name, dir string) string {
	if name == "" {
		return dir
	}
	return name
}

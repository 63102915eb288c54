package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// diffFlags are the flags of shadow diff.
type diffFlags struct {
	listflags.Flags
	by      []string
	options summary.Options
	output  string

	found   int              // rows of classes
	lacking *session.Session // the last one read without any
}

func newDiff(env console.Env) *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff A... -- B... | diff A B",
		Short: "Compare two builds: sessions, or sets of repeated runs, side by side",
		Long: `Compares two sessions, or two sets of sessions of repeated runs, A with B: the run as a
whole, then each class, or what else --by names: executors, call sites, kinds of
threads, what was waited for, classes on the critical path, what the response times of
each class went to. A folder stands for all sessions in it.

The first line says which side is better in what: throughput (units of work a second),
response time, queue time, then CPU time per unit. Then follow the findings of the account
of time (shadow why) that came, went and stayed. If one side did more units, times and
sizes are compared per unit of work, and totals follow from the units.

With two or more runs on each side, each change has a 95 % interval, an effect size
(Hedges' g), and a verdict. "different" is corrected for all figures that were judged
(Holm; throughput and times first, the JDK's classes apart): for two sets of runs of the
same program, the chance that anything is called different is at most 5 %. Rows below 0.5 % of the whole are not judged. With one run on
a side there is no interval and no verdict.

Classes and call sites are matched by name, without line numbers. If only the number
of a lambda or of an anonymous class differs, the match is a guess, and the row says so.`,
		Example: `  shadow diff /tmp/before /tmp/after
  shadow diff before/run-* -- after/run-*
  shadow diff before after --by all --format json
  shadow diff before after --by site,wait --top 10
  shadow diff before after -o compared.html
  shadow diff before after --format markdown >> "$GITHUB_STEP_SUMMARY"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, b, err := sides(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return f.run(env, a, b)
		},
	}
	f.AddTo(cmd, env, true, "table", "json", "csv", "markdown")
	choice.AddFilter(cmd, &f.options.Filter)
	choice.AddUnits(cmd, &f.options.Units)
	choice.AddExact(cmd, &f.options.Exact)
	cmd.Flags().StringSliceVar(&f.by, "by", []string{string(diff.Class)}, "class|executor|site|thread|wait|path|cause|all, or a list of these")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output); FILE.html is the page of the first session of each side, with the comparison")
	return cmd
}

// sides divides the arguments at --.
func sides(args []string, dash int) (a, b []string, err error) {
	switch {
	case dash < 0 && len(args) == 2:
		return args[:1], args[1:], nil
	case dash < 0:
		return nil, nil, console.Usagef("want two sessions, or two lists with -- between them: shadow diff A... -- B...")
	case dash == 0 || dash == len(args):
		return nil, nil, console.Usagef("a side has no session: shadow diff A... -- B...")
	}
	for _, arg := range args[dash:] {
		if strings.HasPrefix(arg, "-") {
			return nil, nil, console.Usagef("%s comes after --: flags go before it, as in shadow diff --by site A... -- B...", text.OneLine(arg))
		}
	}
	return args[:dash], args[dash:], nil
}

func (f *diffFlags) run(env console.Env, a, b []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.page() {
		if err := files.Check(f.output); err != nil {
			return err
		}
	}
	d, first, err := f.compare(env, a, b)
	if err != nil {
		return err
	}
	if f.page() {
		return f.writePage(env, d, first[:])
	}
	return f.print(env, d)
}

// compare reads the sessions of both sides; first is the first one of each.
func (f *diffFlags) compare(env console.Env, a, b []string) (d *diff.Diff, first [2]string, err error) {
	by, err := diff.Parse(f.by)
	if err != nil {
		return nil, first, &console.UsageError{Err: err}
	}
	if err := f.options.Filter.Check(); err != nil {
		return nil, first, &console.UsageError{Err: err}
	}
	var runs [2][]*diff.Run
	var copies []string
	for i, args := range [][]string{a, b} {
		dirs, notes, err := choice.Sessions(env, args)
		if err != nil {
			return nil, first, err
		}
		copies = append(copies, notes...)
		first[i] = dirs[0]
		for _, dir := range dirs {
			r, err := f.gather(env, dir, by)
			if err != nil {
				return nil, first, err
			}
			runs[i] = append(runs[i], r)
		}
	}
	if f.found == 0 {
		choice.NoteNone(env, f.lacking, f.options.Filter, 0)
	}
	if d, err = diff.Compare(runs[0], runs[1], by); err != nil {
		return nil, first, err
	}
	d.Cautions = append(d.Cautions, copies...)
	return d, first, nil
}

func (f *diffFlags) gather(env console.Env, dir string, by []diff.By) (*diff.Run, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	before, o := len(s.Warnings), f.options
	if bar := env.Bar(); bar != nil {
		o.Progress = bar.Show
		defer bar.Clear()
	}
	r, err := diff.Gather(s, o, by)
	if err != nil {
		return nil, err
	}
	if f.found = f.found + len(r.Names(diff.Class)); f.found == 0 {
		f.lacking = s
	}
	env.NoteFound(s, before)
	return r, nil
}

func noteMissing(env console.Env, d *diff.Diff) {
	for _, what := range slices.Sorted(maps.Keys(d.Missing)) {
		env.Note("by %s not available: %s", what, table.Clean(d.Missing[what]))
	}
	for _, c := range d.Cautions {
		env.Note("caution: %s", table.Clean(c))
	}
}

func (f *diffFlags) print(env console.Env, d *diff.Diff) error {
	noteMissing(env, d)
	rows, top := d.Top(f.Limit()), f.Limit()
	return files.Write(env.Out, f.output, func(w io.Writer) error {
		switch f.Format {
		case "json":
			all := d.Rows
			d.Rows = rows
			defer func() { d.Rows = all }()
			return view.Encode(w, d)
		case "csv":
			return listing.All(listing.CSV(w, diff.Columns(true)), diff.Lines(rows, false))
		case "markdown":
			if top == 0 {
				rows = d.Top(view.DefaultTop)
			}
			return d.Markdown(w, rows)
		}
		for _, line := range append([]string{d.Sentence}, d.FoundTexts()...) {
			if _, err := fmt.Fprintln(w, table.Clean(line)); err != nil {
				return err
			}
		}
		fmt.Fprintln(w)
		if err := view.Table(w, f.TableOptions(f.output != ""), diff.Lines(rows, true), diff.Columns(d.A.Runs > 1 && d.B.Runs > 1)); err != nil {
			return err
		}
		if n := len(d.Rows) - len(rows); n > 0 {
			env.Note("%s left out; --top N shows more, --format csv all", text.PluralExact(int64(n), "row is", "rows are"))
		}
		_, err := fmt.Fprintf(w, "\n%s\n", d.Text())
		return err
	})
}

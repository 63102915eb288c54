package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/times"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

// whyFlags are the flags of shadow why.
type whyFlags struct {
	listflags.Flags
	window choice.Window
	class  string
}

func newWhy(env console.Env) *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:   "why DIR",
		Short: "What the response times of each class went to, and what that depends on",
		Long: `Divides the response times of the units of each class, from when each was handed
over, or due, to its end. The parts add up. Then follows each part to what it depends on:
from a unit in a queue to what the workers do meanwhile, from a wait to who has what is
waited for, up to something that waits for nothing in the program.

First come the obstacles that this amounts to: a pool that waits for itself, workers
occupied by units that wait, a lock and what its holder does, too few workers; and, of
a whole session, all other advice, as shadow stats gives it.`,
		Example: `  shadow why /tmp/s
  shadow why /tmp/s --class '*Request' --from 10s --to 20s
  shadow why /tmp/s --format json`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			a, err := f.answer(env, args[0])
			if err != nil {
				return err
			}
			return f.print(env, a)
		},
	}
	f.AddTo(cmd, env, true, "table", "json")
	f.window.AddTo(cmd)
	cmd.Flags().StringVar(&f.class, "class", "", "only classes that match this GLOB")
	return cmd
}

// answer is what shadow why says. Its JSON names are promised.
type answer struct {
	*account.Session
	// Advice has the obstacles and, of a whole session, what else to change, in the order of what it can save.
	Advice []advice.Finding `json:"advice"`
}

// answer is the account of time of a session, or of a part of one, with what to change.
func (f *whyFlags) answer(env console.Env, dir string) (*answer, error) {
	if err := f.window.Check(); err != nil {
		return nil, err
	}
	if _, err := path.Match(f.class, ""); err != nil {
		return nil, console.Usagef("--class %s: %v", f.class, err)
	}
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	g, err := times.GraphOf(env, s, &f.window)
	if err != nil {
		return nil, err
	}
	a := &answer{account.Of(g), []advice.Finding{}}
	if from, to := units.Ns(g.From-s.Manifest.StartNs), units.Ns(g.To-s.Manifest.StartNs); from > 0 || to < s.Manifest.DurationNs {
		a.OfPart(from, to)
		a.Advice = append(a.Advice, advice.OfAccount(a.Session, to-from)...)
	} else {
		a.Try()
		sum, err := choice.Condense(env, s, summary.Options{Replayer: account.Known(s, g, a.Session)})
		if err != nil {
			return nil, err
		}
		for _, x := range sum.Findings {
			if x.Kind == advice.Advice {
				a.Advice = append(a.Advice, x)
			}
		}
	}
	if f.class != "" {
		a.Classes = slices.DeleteFunc(a.Classes, func(c account.Class) bool {
			match, _ := path.Match(f.class, c.Name)
			return !match
		})
	}
	return a, nil
}

func (f *whyFlags) print(env console.Env, a *answer) error {
	if f.Format == "json" {
		return view.Encode(env.Out, a)
	}
	var b strings.Builder
	if len(a.Classes) == 0 {
		b.WriteString("There is no account: the session has no unit of work and no thread whose activity is known")
		if f.class != "" {
			fmt.Fprintf(&b, ", or no class that matches %s", f.class)
		}
		b.WriteString(".\n")
	}
	if a.Bound.Class != "" && !advice.Obstructs(a.Advice) {
		if a.Bound.Known && len(a.Advice) == 0 {
			b.WriteString("Nothing was found to stand in the way. ")
		}
		fmt.Fprintln(&b, a.Bound.Text())
	}
	for i := range a.Advice {
		x := &a.Advice[i]
		fmt.Fprintf(&b, "%d. %s.\n   %s\n", i+1, x.Title, strings.Join(slices.DeleteFunc([]string{x.Happened, x.Remedy, x.Outcome}, func(s string) bool { return s == "" }), " "))
		if e, ok := x.Evidence.(*advice.Obstructed); ok && len(e.Others) > 0 {
			fmt.Fprintf(&b, "   Also: %s.\n", strings.Join(e.Others, ", "))
		}
	}
	shown := a.Classes
	if f.Top > 0 {
		shown = shown[:min(f.Top, len(shown))]
	}
	for i := range shown {
		printClass(&b, &shown[i])
	}
	if n := len(a.Classes) - len(shown); n > 0 {
		env.Note("%s of %d shown; --top N shows more", text.PluralExact(int64(len(shown)), "class", "classes"), len(a.Classes))
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(env.Out, table.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// leastShown is the smallest share of a class's time that the tree shows.
const leastShown = 0.03

func printClass(b *strings.Builder, c *account.Class) {
	pending := ""
	if c.NotBegun > 0 {
		pending = fmt.Sprintf(" (%d had not begun at the end of the session)", c.NotBegun)
	}
	fmt.Fprintf(b, "\n%s: %s%s, %s each from when it is handed over to its end\n", c.Name, text.PluralExact(int64(c.Units), "unit", "units"), pending, units.FormatNs(c.ResponseNs/units.Ns(max(1, c.Units))))
	printTree(b, c.Tree(), c.Name, 1)
}

// printTree prints what a class does without its name, which stands above.
func printTree(b *strings.Builder, nodes []*account.Node, class string, depth int) {
	for _, n := range nodes {
		if n.Share < leastShown {
			continue
		}
		what := n.What
		if depth == 1 {
			what = strings.TrimPrefix(what, class+" ")
		}
		fmt.Fprintf(b, "%s%6s  %s\n", strings.Repeat("  ", depth), units.FormatPercent(n.Share), what)
		printTree(b, n.On, class, depth+1)
	}
}

package times

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	model "stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/show/view"
)

// whatifFlags are the flags of shadow whatif.
type whatifFlags struct {
	listflags.Flags
	window              choice.Window
	faster, split, pool []string
	free, noGC          []string
	unpin               bool
	cpus                int
}

// NewWhatif is shadow whatif.
func NewWhatif(env console.Env) *cobra.Command {
	var f whatifFlags
	cmd := &cobra.Command{
		Use:   "whatif DIR",
		Short: "Predict how long the run takes with a change: a class faster or split, a pool wider, more CPUs",
		Long: `Replays the recorded units of work, with their submissions and waits for each other,
as they were and with the changes. The replay as they were must take as long as the
recorded run, to within 10 %; otherwise the answer is 'cannot tell'.

A class that is F times as fast takes that part of its CPU time, sleeps and I/O. A
class that is split into K parts has K units in place of each one, submitted and
joined together. What the record does not explain takes as long as it did.`,
		Example: `  shadow whatif /tmp/s --faster com.acme.Parse=2
  shadow whatif /tmp/s --split com.acme.Job=4 --pool orders=8
  shadow whatif /tmp/s --cpus 16 --format json`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(f.Check(), f.window.Check()); err != nil {
				return err
			}
			if f.cpus < 0 {
				return console.Usagef("--cpus %d: want a number above 0", f.cpus)
			}
			if f.cpus == 0 && !f.unpin && len(f.faster)+len(f.split)+len(f.pool)+len(f.free)+len(f.noGC) == 0 {
				return console.Usagef("nothing to change: use --faster, --split, --pool, --free, --no-gc, --unpin or --cpus")
			}
			s, err := env.Open(args[0])
			if err != nil {
				return err
			}
			g, err := GraphOf(env, s, &f.window)
			if errors.Is(err, model.ErrTooLarge) {
				return f.answer(env, &WhatifJSON{CannotTell: err.Error()})
			}
			if err != nil {
				return err
			}
			return f.run(env, g)
		},
	}
	f.AddTo(cmd, env, false, "table", "json")
	f.window.AddTo(cmd)
	cmd.Flags().StringArrayVar(&f.faster, "faster", nil, "CLASS=F: the class is F times as fast (repeatable)")
	cmd.Flags().StringArrayVar(&f.split, "split", nil, "CLASS=K: each unit of the class becomes K units (repeatable)")
	cmd.Flags().StringArrayVar(&f.pool, "pool", nil, "NAME=N: the executor has N workers; a part of its name that only it has is enough (repeatable)")
	cmd.Flags().StringArrayVar(&f.free, "free", nil, "CLASS: nobody waits for locks of the class, by the agent's record of waits (repeatable)")
	cmd.Flags().StringArrayVar(&f.noGC, "no-gc", nil, "REASON: no pauses for collections for this reason, as HotSpot names it, such as 'System.gc()'; all: no pauses at all (repeatable)")
	cmd.Flags().BoolVar(&f.unpin, "unpin", false, "virtual threads leave their carriers whenever they wait")
	cmd.Flags().IntVar(&f.cpus, "cpus", 0, "the number of CPUs (default: as it was)")
	return cmd
}

// WhatifJSON is the answer; its names are promised.
type WhatifJSON struct {
	RecordedNs  units.Ns  `json:"recorded_ns"`
	ReplayedNs  units.Ns  `json:"replayed_ns"`
	PredictedNs *units.Ns `json:"predicted_ns"` // null: cannot tell
	Gain        *float64  `json:"gain"`         // 0.25: a quarter shorter
	Error       float64   `json:"replay_error"`
	CannotTell  string    `json:"cannot_tell,omitempty"`
}

func (f *whatifFlags) run(env console.Env, g *graph.Session) error {
	change, whyNot, err := f.change(g)
	if err != nil {
		return err
	}
	p, err := g.Predict(change)
	if err != nil {
		return err
	}
	out := WhatifJSON{RecordedNs: p.Recorded, ReplayedNs: p.Replayed, Error: p.Error()}
	if why := cmp.Or(whyNot, p.Why); why != nil {
		out.CannotTell = why.Error()
	} else {
		expected := p.Expected()
		gain := 1 - float64(expected)/float64(max(p.Recorded, 1))
		out.PredictedNs, out.Gain = &expected, &gain
	}
	return f.answer(env, &out)
}

func (f *whatifFlags) answer(env console.Env, out *WhatifJSON) error {
	if f.Format == "json" {
		return view.Encode(env.Out, out)
	}
	return out.print(env)
}

func (o *WhatifJSON) print(env console.Env) error {
	if o.PredictedNs == nil {
		_, err := fmt.Fprintf(env.Out, "cannot tell: %s\n", text.OneLine(o.CannotTell))
		return err
	}
	_, err := fmt.Fprintf(env.Out, "recorded   %s\nreplayed   %s (%+.1f %%)\npredicted  %s, %+.1f %%\n", units.FormatNs(o.RecordedNs), units.FormatNs(o.ReplayedNs), 100*o.Error,
		units.FormatNs(*o.PredictedNs), -100**o.Gain)
	return err
}

// change finds what the flags name in the graph; whyNot is why the graph cannot answer.
func (f *whatifFlags) change(g *graph.Session) (c replay.Change, whyNot, err error) {
	classes := g.ClassNames()
	named := func(class uint32) bool { // has all of its time in the graph
		whyNot = cmp.Or(whyNot, g.WhyNotClass(classes[class]))
		return whyNot == nil
	}
	c = replay.Change{Faster: map[uint32]float64{}, Split: map[uint32]int{}, Pool: map[uint32]int{}, Free: map[uint32]bool{}, Pauses: map[uint32]bool{}, Unpin: f.unpin, CPUs: f.cpus}
	for _, of := range f.faster {
		class, value, err := parseChange(of, classes)
		factor, wrong := strconv.ParseFloat(value, 64)
		if err == nil && wrong != nil {
			err = errors.New("want a number after the =")
		}
		if err != nil {
			return c, nil, console.Usagef("--faster %s: %v", of, err)
		}
		if named(class) {
			c.Faster[class] = factor
		}
	}
	for _, x := range []struct {
		flag  string
		of    []string
		names []string
		into  map[uint32]int
	}{{"--split", f.split, classes, c.Split}, {"--pool", f.pool, executorNames(g.Executors), c.Pool}} {
		for _, of := range x.of {
			i, value, err := parseChange(of, x.names)
			n, wrong := strconv.Atoi(value)
			if err == nil && wrong != nil {
				err = errors.New("want a whole number after the =")
			}
			if err != nil {
				return c, nil, console.Usagef("%s %s: %v", x.flag, of, err)
			}
			if x.flag != "--split" || named(i) {
				x.into[i] = n
			}
		}
	}
	for _, of := range f.free {
		class, err := find(of, lockNames(g))
		if err != nil {
			return c, nil, console.Usagef("--free %s: %v", of, err)
		}
		c.Free[class] = true
	}
	for _, of := range f.noGC {
		reasons, err := g.PausesFor(of)
		if err != nil {
			return c, nil, console.Usagef("--no-gc %s: %v", of, err)
		}
		maps.Copy(c.Pauses, reasons)
	}
	return c, whyNot, nil
}

func executorNames(of []model.Executor) (names []string) {
	for i, e := range of {
		if i == 0 {
			e.Name = "" // threads of their own have no width
		}
		names = append(names, e.Name)
	}
	return names
}

// lockNames are the classes of what units waited for, by their numbers.
func lockNames(g *graph.Session) []string {
	names := make([]string, len(g.Classes))
	for _, r := range g.Resources {
		names[r.Class] = g.Classes[r.Class]
	}
	return names
}

// parseChange splits NAME=VALUE and finds the name.
func parseChange(of string, names []string) (uint32, string, error) {
	at := strings.LastIndexByte(of, '=')
	if at < 0 {
		return 0, "", errors.New("want NAME=NUMBER")
	}
	i, err := find(of[:at], names)
	return i, of[at+1:], err
}

// find is the index of a name, or of the only one that has name as a part.
func find(name string, names []string) (uint32, error) {
	found := -1
	for i, n := range names {
		switch {
		case n == "":
		case n == name:
			return uint32(i), nil
		case strings.Contains(n, name) && found >= 0:
			return 0, fmt.Errorf("both %q and %q match", table.Clean(names[found]), table.Clean(n))
		case strings.Contains(n, name):
			found = i
		}
	}
	if found < 0 {
		return 0, errors.New("nothing of this name was recorded; shadow hotspots --by class and --by executor list the names")
	}
	return uint32(found), nil
}

package times

import (
	"errors"
	"path"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/gc"
	"stackagent/shadow/session"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/gcreport"
)

// gcFlags are the flags of shadow gc.
type gcFlags struct {
	listflags.Flags
	window choice.Window
	class  string
	output string
}

// NewGC is shadow gc.
func NewGC(env console.Env) *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc DIR",
		Short: "What garbage collection costs: pauses, utilization, collector threads, latency of tasks",
		Long: `Stopped is how long safepoints stopped the whole program, for collections and other
reasons: to reach them, and at them. It comes from the JVM's own counters, as do the
causes. Pauses are what the JVM reported as such: the parts of collections at
safepoints, without the time to reach them. Utilization is the minimum mutator utilization, the worst
case: in any window of this length, the program could run at least this share of the
time. It counts all of the time stopped, and beside it the pauses alone; other stops than
pauses have their place from looks at the counters every 20 ms. With a scheduling record, the collector's threads are shown, too: work is their
running time, time their share of the program's time (shadow bottle).

A stall is a wait of a thread for the collector outside of pauses: ZGC's allocation stalls,
Shenandoah's pacing, the wait for the end of a collection. The least utilization with
stalls counts a stalled thread as one of the threads that were running, stopped.

With --class, shows the latency of the class's executions, as shadow latency does.
Simple latency is from start to end. Metered latency assumes that requests arrive at
a steady rate, smoothed over a window, so that a pause delays all requests that had
to wait for it.`,
		Example: `  shadow gc /tmp/s
  shadow gc /tmp/s --class 'com.acme.Request' --format json
  shadow gc /tmp/s -o mmu.svg`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := errors.Join(f.Flags.Check(), f.window.Check(), files.CheckFigure(f.output)); err != nil {
				return err
			}
			if _, err := path.Match(f.class, ""); err != nil {
				return console.Usagef("--class %s: %v", f.class, err)
			}
			return f.run(env, args[0])
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	f.window.AddTo(cmd)
	cmd.Flags().StringVar(&f.class, "class", "", "latency of the executions of classes whose Java name matches this glob")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the curve of utilization to FILE.svg|png|pdf")
	return cmd
}

func (f *gcFlags) run(env console.Env, dir string) error {
	s, err := env.Open(dir)
	if err != nil {
		return err
	}
	r, err := gcreport.New(s)
	if err != nil {
		return err
	}
	a, without := choice.OpenActivity(env, s)
	if without != nil && !errors.Is(without, session.ErrNoActivity) {
		return without
	}
	w, err := f.window.Of(env, s, s.Manifest.StartNs, s.Manifest.EndNs)
	if err != nil {
		return err
	}
	stops := r.PausesIn(s, a, w)
	if f.output != "" {
		return files.WriteFigure(env, f.output, figure.MMU(gc.MMU(stops, w, gc.Lengths(1e6, w, 8))))
	}
	if err := r.Collect(s, a, without, w, stops); err != nil {
		return err
	}
	if a != nil {
		choice.NoteDamage(env, a)
	}
	if err := r.AddLatency(s, f.class, w, f.window.Whole()); err != nil {
		return err
	}
	return r.Print(&f.Printer)
}

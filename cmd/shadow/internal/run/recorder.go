package run

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"stackagent/agent/options"
	"stackagent/shadow/experiment/suite"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/launch"
	"stackagent/shadow/experiment/runner"
)

// Recorder makes the runs of an experiment with the agent, as the flags say.
type Recorder struct {
	Env console.Env
	*Flags
}

// Record makes one of them.
func (r Recorder) Record(ctx context.Context, run runner.Run) (launch.Result, error) {
	env, f := r.Env, *r.Flags
	env.In, env.Out, env.Err, env.Environ = nil, run.Output, run.Output, run.Environ
	env.Log = slog.New(slog.NewTextHandler(run.Output.Notes(), nil)) // the command's words stay its own
	f.dir, f.quiet, f.limit, f.workdir = run.Folder, true, run.Limit, run.Program.Dir
	f.record(run.Program)
	if list := run.Point.Of(runner.Monitors); list != "" {
		f.Monitors.List = list
	}
	return profiled(ctx, env, f, run.Args)
}

// Settings are how runs are recorded, as far as it makes them comparable.
func (f *Flags) Settings() []string {
	var out []string
	for _, s := range f.options.settings() {
		out = append(out, s.Key+"="+s.Value)
	}
	for _, o := range f.More {
		out = append(out, o.Key+"="+o.Value)
	}
	return append(out, "marker="+f.Marker.end, "marker-begin="+f.Marker.begin, "deopts="+strconv.FormatBool(f.deopts), "switches="+f.Switches, "counters="+strconv.FormatBool(f.Counter))
}

// record adds what the program asks for to be recorded.
func (f *Flags) record(p *runner.Program) {
	f.More = slices.Clone(f.More)
	for _, t := range p.Tasks {
		f.More = append(f.More, options.Setting{Key: "task", Value: t})
	}
	switch p.Marker.Kind {
	case suite.TaskMarker:
		f.More = append(f.More, options.Setting{Key: "task", Value: p.Marker.Task})
	case suite.OutputMarker:
		if f.Marker.end == "" {
			f.Marker.end = p.Marker.Line.String()
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/jdk"
	"stackagent/internal/launch"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/show/view"
)

// jvmPatience bounds every start of a JVM.
const jvmPatience = time.Minute

func newDoctor(env console.Env) *cobra.Command {
	var l listflags.Flags
	var agent string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "What this machine and its JVMs allow, and how to enable the rest",
		Long: `Checks the installed JVMs, the agent library, hardware counters and the scheduler's
events. For each check, prints whether it is available and, if not, what to do about
it. Starts JVMs for a moment; changes nothing.`,
		Example: `  shadow doctor
  shadow doctor --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			return printFacilities(&l, diagnose(cmd.Context(), env, agent))
		},
	}
	l.AddTo(cmd, env, false, "table", "json", "csv")
	cmd.Flags().StringVar(&agent, "agent", "", "the agent library (default: the one beside shadow)")
	return cmd
}

func printFacilities(l *listflags.Flags, all []hpc.Facility) error {
	switch l.Format {
	case "json":
		return l.JSON(all)
	case "csv":
		return listing.All(listing.CSV(l.Out, facilityColumns), all)
	}
	return view.Table(l.Out, l.TableOptions(false), all, facilityColumns)
}

var facilityColumns = []listing.Column[hpc.Facility]{
	{Name: "check", Title: "check", Kind: listing.Word, Doc: "what is checked", Value: func(f hpc.Facility) listing.Value { return listing.WordOf(f.Name) }},
	{Name: "result", Title: "result", Kind: listing.Word, Doc: "whether it is available", Value: func(f hpc.Facility) listing.Value { return listing.WordOf(f.Available) }},
	{Name: "detail", Title: "detail", Kind: listing.Name, Wraps: true, Doc: "what was found", Value: func(f hpc.Facility) listing.Value { return listing.NameOf(f.Detail) }},
	{Name: "remedy", Title: "remedy", Kind: listing.Name, Wraps: true, Doc: "how to enable it", Value: func(f hpc.Facility) listing.Value { return listing.NameOf(f.Remedy) }},
}

// diagnose makes all checks: Java, the agent, then the machine.
func diagnose(ctx context.Context, env console.Env, agent string) []hpc.Facility {
	homes := jdk.Find(env.Getenv)
	all := javaFacilities(homes)
	all = append(all, agentFacilities(ctx, env, agent, homes)...)
	all = append(all, perfData(ctx, homes))
	all = append(all, hpc.Probe()...)
	return append(all, sched.Probe()...)
}

func javaFacilities(homes []jdk.Home) []hpc.Facility {
	if len(homes) == 0 {
		return []hpc.Facility{{Name: "Java", Available: hpc.No, Detail: "none found by JAVA_HOME, PATH and the usual folders",
			Remedy: "apt-get install openjdk-17-jdk-headless, or set JAVA_HOME"}}
	}
	all := make([]hpc.Facility, 0, len(homes))
	for _, h := range homes {
		f := hpc.Facility{Name: "Java", Available: hpc.Yes, Detail: h.String()}
		switch {
		case h.Libc == "musl":
			f.Available = hpc.No
			f.Detail += ", built for musl: the agent's library is for glibc"
			f.Remedy = "use a Java that is built for glibc"
		case h.Feature() == 0:
			f.Available = hpc.Unknown
		case h.Feature() < jdk.Oldest:
			f.Available = hpc.No
			f.Remedy = fmt.Sprintf("use Java %d or newer", jdk.Oldest)
		}
		if f.Available == hpc.Yes {
			f.Name = fmt.Sprintf("Java %d", h.Feature())
		}
		all = append(all, f)
	}
	return all
}

// agentFacilities checks the library itself, then loads it into every usable Java:
// only that proves that it loads.
func agentFacilities(ctx context.Context, env console.Env, agent string, homes []jdk.Home) []hpc.Facility {
	f := hpc.Facility{Name: "agent library"}
	path, err := run.FindAgent(env, agent)
	if err != nil {
		f.Available, f.Detail = hpc.No, strings.TrimPrefix(err.Error(), "agent library ")
		return []hpc.Facility{f}
	}
	f.Available, f.Detail = hpc.Yes, path
	all := []hpc.Facility{f}
	for _, h := range homes {
		if h.Libc != "musl" && h.Feature() >= jdk.Oldest {
			all = append(all, loads(ctx, path, h))
		}
	}
	return all
}

// loads starts a JVM with the agent. "?" is not a valid option: the agent says so and
// the JVM starts without profiling.
func loads(ctx context.Context, library string, h jdk.Home) hpc.Facility {
	f := hpc.Facility{Name: fmt.Sprintf("agent loads in Java %d", h.Feature())}
	started := time.Now()
	text, err := java(ctx, h, "-agentpath:"+library+"=?", "-version")
	switch {
	case err == nil:
		f.Available = hpc.Yes
		f.Detail = fmt.Sprintf("%s started with it in %.2f s", h.Java(), time.Since(started).Seconds())
	case errors.Is(err, context.DeadlineExceeded):
		f.Available, f.Detail = hpc.Unknown, fmt.Sprintf("%s did not answer within %v", h.Java(), jvmPatience)
	default:
		f.Available, f.Detail = hpc.No, h.Java()+": "+firstLine(text, err)
		f.Remedy = "build it again on this machine with make"
	}
	return f
}

// java runs the launcher for a bounded time and returns all that it printed.
func java(ctx context.Context, h jdk.Home, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, jvmPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Java(), args...)
	cmd.Env = launch.WithoutJavaOptions(os.Environ())
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return string(out), fmt.Errorf("running %s: %w", h.Java(), ctx.Err())
	}
	return string(out), err
}

func firstLine(text string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

// perfData checks for hsperfdata: the JVM's own counters in a mapped file, which
// others can read at no cost to the JVM.
func perfData(ctx context.Context, homes []jdk.Home) hpc.Facility {
	f := hpc.Facility{Name: "JVM counters (hsperfdata)"}
	if len(homes) == 0 {
		f.Available, f.Detail = hpc.Unknown, "no Java found"
		return f
	}
	me, err := user.Current()
	if err != nil {
		f.Available, f.Detail = hpc.Unknown, "who runs this: "+err.Error()
		return f
	}
	dir := filepath.Join("/tmp", "hsperfdata_"+me.Username) // always /tmp, whatever TMPDIR says
	output, err := java(ctx, homes[0], "-XX:+PrintFlagsFinal", "-version")
	if err != nil {
		f.Available, f.Detail = hpc.Unknown, firstLine(output, err)
		return f
	}
	on := false
	for line := range strings.Lines(output) {
		if field := strings.Fields(line); len(field) > 3 && field[1] == "UsePerfData" {
			on = field[3] == "true"
		}
	}
	if !on {
		f.Available, f.Detail, f.Remedy = hpc.No, "UsePerfData is off in "+homes[0].Path, "-XX:+UsePerfData"
		return f
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.Available, f.Detail = hpc.No, err.Error()
		return f
	}
	live := 0
	for _, e := range entries { // named by process id; a killed JVM leaves its file
		if _, err := os.Stat(filepath.Join("/proc", e.Name())); err == nil {
			live++
		}
	}
	f.Available, f.Detail = hpc.Yes, fmt.Sprintf("on by default; %s in %s now", text.PluralExact(live, "file", "files"), dir)
	return f
}

package tool

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stackagent/scripts/bench/measure"
)

// asyncProfilerVariable names async-profiler's library if asprof is not on the PATH.
const asyncProfilerVariable = "ASYNC_PROFILER"

// asyncProfilerLibrary finds the library; "" if there is none.
func asyncProfilerLibrary() string {
	if library := os.Getenv(asyncProfilerVariable); library != "" {
		return library
	}
	asprof, err := exec.LookPath("asprof")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(asprof); err == nil {
		asprof = real
	}
	return filepath.Join(filepath.Dir(asprof), "..", "lib", "libasyncProfiler.so")
}

// AsyncProfiler is async-profiler tracing the program's methods, if it is installed:
// asprof on the PATH, or its library named by $ASYNC_PROFILER.
func AsyncProfiler(ctx context.Context, java string) (t Tool, found bool) {
	library := asyncProfilerLibrary()
	if library == "" {
		return Tool{}, false
	}
	// It prints "4.5 " and continues.
	said, err := measure.Run(ctx, measure.Command{Args: []string{java, "-agentpath:" + library + "=version", "-version"}})
	words := strings.Fields(said.Stdout)
	if err != nil || len(words) == 0 {
		return Tool{}, false
	}
	return Tool{
		Name:     "async-profiler " + words[0] + " trace",
		ByMethod: true,
		Recorded: countTrace,
		Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
			file := filepath.Join(scratch, "recording.jfr")
			options := "start,jfr,file=" + file
			for _, m := range p.Methods {
				options += ",trace=" + strings.Replace(m, "::", ".", 1)
			}
			r, err := direct(ctx, p, "-agentpath:"+library+"="+options)
			r.Files = file
			return r, err
		},
	}, true
}

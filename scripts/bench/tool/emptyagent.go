package tool

import (
	"context"
	"path/filepath"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
)

// EmptyAgent is a JVMTI agent that only asks for the support of virtual threads. It is compiled from the source into dir, with
// the headers of jdk, which must be 21 or later.
func EmptyAgent(ctx context.Context, jdk testjvm.JDK, source, dir string) (Tool, error) {
	library, include := filepath.Join(dir, "libempty.so"), filepath.Join(jdk.Home, "include")
	cc := []string{"cc", "-O2", "-Wall", "-Werror", "-fPIC", "-shared", "-I" + include, "-I" + filepath.Join(include, "linux"), "-o", library, source}
	if _, err := measure.Run(ctx, measure.Command{Args: cc}); err != nil {
		return Tool{}, err
	}
	return Tool{Name: "empty JVMTI agent", MinJDK: 21, Run: func(ctx context.Context, p Program, _ string) (Run, error) {
		return direct(ctx, p, "-agentpath:"+library)
	}}, nil
}

package run

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/jdk"
	"stackagent/internal/launch"
)

// AgentVariable names the agent library where --agent does not.
const AgentVariable = "STACKAGENT_AGENT"

// FindAgent is the agent library: the one named, or the one beside this program.
func FindAgent(env console.Env, named string) (string, error) {
	if named == "" {
		named = env.Getenv(AgentVariable)
	}
	if named != "" {
		return launch.CheckLibrary(named)
	}
	exe, err := env.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the agent library beside this program (name it with --agent): %w", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return launch.CheckLibrary(filepath.Join(filepath.Dir(exe), launch.LibraryName))
}

// CheckJava refuses a Java that is known to be too old or of the wrong kind for
// the agent; one that does not say what it is gets its chance.
func CheckJava(command string) error {
	if !launch.IsJava(command) {
		return nil
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return nil // starting it says so
	}
	h := jdk.Of(path)
	switch {
	case h.Libc == "musl":
		return fmt.Errorf("%s is built for musl, the agent for glibc; use another Java (shadow doctor lists those of this machine)", path)
	case h.Feature() != 0 && h.Feature() < jdk.Oldest:
		return fmt.Errorf("%s is Java %s, the agent needs %d or newer; use another Java (shadow doctor lists those of this machine)", path, h.Version, jdk.Oldest)
	}
	return nil
}

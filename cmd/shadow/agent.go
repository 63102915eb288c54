package main

import (
	"fmt"
	"path/filepath"

	"stackagent/cmd/shadow/internal/launch"
)

// agentVariable names the agent library where --agent does not.
const agentVariable = "STACKAGENT_AGENT"

// findAgent is the agent library: the one named, or the one beside this program.
func findAgent(env Env, named string) (string, error) {
	if named == "" {
		named = env.Getenv(agentVariable)
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

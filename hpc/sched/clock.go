package sched

import (
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// now reads the clock of sessions.
func now() units.MonoNs { return proc.Now() }

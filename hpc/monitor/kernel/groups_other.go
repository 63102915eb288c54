//go:build !linux

// Package kernel has the groups of monitors of the operating system, which is Linux.
package kernel

import "stackagent/hpc/monitor"

// Groups are none: nothing is observed here.
func Groups() []monitor.Group { return nil }

//go:build !linux

package hpc

import "runtime"

// RseqFacility is a name of Probe's list on Linux.
const RseqFacility = "rseq"

// Probe says what this system cannot do.
func Probe() []Facility {
	return []Facility{{Name: "Linux", Available: No,
		Detail: "this is " + runtime.GOOS + ": the agent is not loaded and threads are not observed here; sessions recorded on Linux can be read"}}
}

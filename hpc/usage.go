package hpc

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"stackagent/internal/units"
)

// UsageFileName is the file of a session folder that holds what the kernel
// says about the whole process, once it has ended.
const UsageFileName = "usage.json"

// UsageFileVersion is the version of the file that this package writes and reads.
const UsageFileVersion = 1

// Usage is what the kernel reports about an ended process (wait4): all its threads,
// even the shortest, and the children that it waited for.
type Usage struct {
	Version     int      `json:"version"`
	Wall        units.Ns `json:"wall_ns"`   // from its start until it was waited for
	User        units.Ns `json:"user_ns"`   // CPU time in user mode
	System      units.Ns `json:"system_ns"` // CPU time of the kernel on its behalf
	MinorFaults int64    `json:"minor_faults"`
	MajorFaults int64    `json:"major_faults"`
	Voluntary   int64    `json:"voluntary_switches"`
	Involuntary int64    `json:"involuntary_switches"`
	// MaxResident is nil where it is not known: see launch.Result.
	MaxResident *int64 `json:"max_resident_bytes"`
}

// CPU is the whole CPU time.
func (u *Usage) CPU() units.Ns { return u.User + u.System }

// UsageOf makes a Usage from the result of wait4 for a process that ran for wall.
// Maxrss 0 means unknown.
func UsageOf(r *syscall.Rusage, wall time.Duration) Usage {
	u := Usage{
		Version: UsageFileVersion, Wall: units.Ns(wall), User: units.Ns(r.Utime.Nano()), System: units.Ns(r.Stime.Nano()),
		MinorFaults: r.Minflt, MajorFaults: r.Majflt, Voluntary: r.Nvcsw, Involuntary: r.Nivcsw,
	}
	if r.Maxrss > 0 {
		bytes := r.Maxrss * 1024 // the kernel counts KiB
		u.MaxResident = &bytes
	}
	return u
}

// Write puts u into the folder dir.
func (u Usage) Write(dir string) error { return WriteJSON(filepath.Join(dir, UsageFileName), u) }

// ReadUsage reads the usage of a session folder; nil without an error when
// there is none.
func ReadUsage(dir string) (*Usage, error) {
	path := filepath.Join(dir, UsageFileName)
	b, err := ReadSmall(path)
	if err != nil || b == nil {
		return nil, err
	}
	return parseUsage(path, b)
}

func parseUsage(path string, b []byte) (*Usage, error) {
	var u Usage
	if err := json.Unmarshal(b, &u); err != nil {
		return nil, fmt.Errorf("reading the process's account: %s: %w", path, err)
	}
	if u.Version != UsageFileVersion {
		return nil, fmt.Errorf("reading the process's account: %s has version %d, this program knows %d: use the version of shadow that wrote it", path, u.Version, UsageFileVersion)
	}
	if u.Wall < 0 || u.User < 0 || u.System < 0 {
		return nil, fmt.Errorf("reading the process's account: %s holds negative times", path)
	}
	return &u, nil
}

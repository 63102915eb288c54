//go:build !linux

package sched

import "stackagent/hpc"

// blockingCalls are numbers of Linux. A record that was made there names what threads waited for.
var blockingCalls map[int32]State

func (*builder) waker(State, bool, onCPU) Waker { return NoWaker }

var errNotLinux = &UnavailableError{Reason: "scheduling is observed on Linux only"}

type (
	ebpfSource struct{ source }
	perfSource struct{ source }
)

func openEBPF() (*ebpfSource, error) { return nil, errNotLinux }
func openPerf() (*perfSource, error) { return nil, errNotLinux }
func (*ebpfSource) listen(func())    {}

// Probe reports nothing: that this is no Linux is said once, by package hpc.
func Probe() []hpc.Facility { return nil }

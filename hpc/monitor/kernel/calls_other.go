//go:build linux && !amd64

package kernel

// moreCalls are none: kindsOfCalls has the calls of every architecture.
var moreCalls = map[string][]int32{}

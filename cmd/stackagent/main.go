// The agent library: go build -buildmode=c-shared. The JVM loads it with
// -agentpath:libstackagent.so=options and calls Agent_OnLoad (package jvmti).
package main

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
// #cgo LDFLAGS: -ldl
import "C"

import (
	"stackagent/agent"
	"stackagent/jvmti"
)

// version is set by the linker.
var version = "unknown"

func init() {
	agent.Version = version
	jvmti.Register(&agent.Agent{})
}

// main is never called: a c-shared library has none, the build mode wants one.
func main() {}

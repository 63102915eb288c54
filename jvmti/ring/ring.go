// Package ring documents the per-thread ring of the agent's hot path. The code
// is C in a header (ring.h, record.h), compiled into package jvmti; the tests
// here compile it alone, under the thread and address sanitizers.
package ring

import "embed"

// Headers are the C sources, so that go build sees a change: see package clock.
//
//go:embed *.h
var Headers embed.FS

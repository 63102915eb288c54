// Package clock documents the clocks of the agent's hot path. The code is C in
// a header (clock.h), compiled into package jvmti; the tests here compile it
// alone and compare it with the kernel's own clocks.
package clock

import "embed"

// Headers are the C sources. Nothing reads them: go build hashes the files of a
// cgo package's own folder only, and sees a change here because package jvmti
// imports this one. The linker drops the text.
//
//go:embed *.h
var Headers embed.FS

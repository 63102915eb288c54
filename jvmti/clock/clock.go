// Package clock documents the clocks of the agent's hot path. The code is C in
// a header (clock.h), compiled into package jvmti; the tests here compile it
// alone and compare it with the kernel's own clocks.
package clock

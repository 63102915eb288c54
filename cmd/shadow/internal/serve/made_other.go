//go:build !linux

package serve

import "golang.org/x/sys/unix"

func withUs() *unix.SysProcAttr { return nil }

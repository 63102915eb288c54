//go:build !linux

package attach

import "errors"

// unsent is not asked elsewhere: JVMs are attached to on Linux only.
func unsent(uintptr) (int, error) { return 0, errors.ErrUnsupported }

//go:build !linux

package experiments

import "errors"

func memoryBytes() (int64, error) { return 0, errors.ErrUnsupported }

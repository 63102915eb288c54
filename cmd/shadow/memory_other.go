//go:build !linux

package main

import "errors"

func memoryBytes() (int64, error) { return 0, errors.ErrUnsupported }

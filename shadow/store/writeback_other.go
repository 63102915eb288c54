//go:build !linux

package store

import "os"

// startWriteback is only an advice, which other systems do not take.
func startWriteback(*os.File) {}

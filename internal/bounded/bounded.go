// Package bounded reads files that may be anybody's and of any size.
package bounded

import (
	"io"
	"os"
)

// ReadFile reads at most the first most bytes of a file. A caller that allows n bytes passes n+1, and so sees that a file is too large.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	return All(f, most, err)
}

// All reads the first bytes of an opened file and closes it. An error of opening it is returned.
func All(f io.ReadCloser, most int64, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

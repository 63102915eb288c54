package hpc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Inner is the number that a process or thread has in its own eyes, and whether
// it has its numbers in a pid namespace of its own (a container's), where the one
// that we know it by means nothing. dir is its folder: /proc/7, /proc/7/task/8.
func Inner(dir string) (number int, own bool, err error) {
	path := filepath.Join(dir, "status")
	status, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return 0, false, fmt.Errorf("it has ended: %w", err)
	}
	if err != nil {
		return 0, false, err
	}
	number, own, err = parseInner(status)
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", path, err)
	}
	return number, own, nil
}

// parseInner reads the line NSpid (proc(5)): the numbers from our namespace down
// to the innermost.
func parseInner(status []byte) (number int, own bool, err error) {
	for line := range bytes.Lines(status) {
		text, ok := bytes.CutPrefix(line, []byte("NSpid:"))
		if !ok {
			continue
		}
		numbers := bytes.Fields(text)
		if len(numbers) == 0 {
			break
		}
		number, err = strconv.Atoi(string(numbers[len(numbers)-1]))
		return number, len(numbers) > 1, err
	}
	return 0, false, fmt.Errorf("no line NSpid")
}

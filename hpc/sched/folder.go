package sched

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stackagent/internal/checksum"
)

// Folder is the folder of the scheduling record inside a session's folder.
const Folder = "sched"

// Version is the version of the record's files that this package writes and reads.
const Version = 3

const (
	headName      = "record.json"
	slicesPrefix  = "slices-"
	threadsPrefix = "threads-"
	gcPrefix      = "gc-"
	suffix        = ".parquet"
	digits        = 8
)

// Limits on what a record's files may hold.
const (
	maxHeadBytes = 64 << 20 // with the checksums of the parts
	maxPartBytes = 256 << 20
	maxPartRows  = 8 << 20 // slices of a part
	maxThreads   = 16 << 20
	maxGC        = 16 << 20 // samples of the collectors in all
	maxParts     = 1 << 20
)

// Errors of reading a record.
var (
	ErrVersion = errors.New("written by a newer shadow; use that one to read it")
	ErrDamaged = errors.New("the scheduling record is damaged")
)

func partName(prefix string, seq int) string {
	return fmt.Sprintf("%s%0*d%s", prefix, digits, seq, suffix)
}

// parsePart is the inverse of partName.
func parsePart(prefix, name string) (seq int, ok bool) {
	text, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	if text, ok = strings.CutSuffix(text, suffix); !ok || len(text) != digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}

func replace(dir, name string, fill func(io.Writer) error) (checksum.File, error) {
	sum, err := checksum.Replace(dir, name, fill)
	if err != nil {
		err = fmt.Errorf("writing the scheduling record: %w", err)
	}
	return sum, err
}

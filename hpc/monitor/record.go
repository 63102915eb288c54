package monitor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stackagent/internal/seal"
	"stackagent/internal/units"
)

// Folder is the folder of the samples inside a session's folder.
const Folder = "monitors"

// Version is the version of the files that this package writes and reads.
const Version = 1

const (
	headName  = "record.json"
	prefix    = "samples-"
	suffix    = ".parquet"
	digits    = 8
	tmpPrefix = ".tmp-"
)

// Limits on what the files may hold.
const (
	maxHeadBytes = 64 << 20
	maxPartBytes = 256 << 20
	maxPartRows  = 4 << 20
	maxParts     = 1 << 20
)

// Errors of reading samples.
var (
	ErrVersion = errors.New("written by a newer shadow; use that one to read it")
	ErrDamaged = errors.New("the samples are damaged")
)

// Head is the content of record.json.
type Head struct {
	Version      int                  `json:"version"`
	PID          int                  `json:"pid"`
	IntervalNs   units.Ns             `json:"interval_ns"`
	Complete     bool                 `json:"complete"` // written at the end
	Samples      int64                `json:"samples"`
	Missed       int64                `json:"missed"`            // samples that were due and not taken: the sampler got no CPU
	Dropped      int64                `json:"dropped,omitempty"` // values of monitors beyond the most that are kept, or of parts that could not be written
	CPUNs        units.Ns             `json:"cpu_ns"`            // that reading took
	Monitors     []Declaration        `json:"monitors"`
	NotAvailable map[string]string    `json:"not_available,omitempty"` // monitor, prefix or group -> why
	Files        map[string]seal.File `json:"files"`
}

// Row is one value of the table of samples. A counter has a row where it grew, a gauge where it changed; TickMonitor has
// one for each sample.
type Row struct {
	AtNs    int64   `parquet:"at_ns,delta"` // CLOCK_MONOTONIC; the interval that it ends
	Monitor string  `parquet:"monitor,dict"`
	Thread  int32   `parquet:"thread,delta"` // 0: the whole process
	Value   float64 `parquet:"value"`
}

// TickMonitor marks a sample; its value is how long reading took, in ns.
const TickMonitor = "shadow.sample.time_ns"

func partName(seq int) string { return fmt.Sprintf("%s%0*d%s", prefix, digits, seq, suffix) }

// replace writes a temporary file and renames it, so that a reader never sees half a file.
func replace(dir, name string, fill func(io.Writer) error) (sum seal.File, err error) {
	tmp := filepath.Join(dir, tmpPrefix+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return sum, fmt.Errorf("writing samples: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
			err = fmt.Errorf("writing samples: %w", err)
		}
	}()
	w := seal.NewWriter(f)
	if err := fill(w); err != nil {
		return sum, err
	}
	if err := f.Close(); err != nil {
		return sum, err
	}
	return w.File(), os.Rename(tmp, filepath.Join(dir, name))
}

// openRegular opens a regular file: a link could lead out of the session, a pipe would never answer.
func openRegular(path string, most int64) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file (%s): %w", path, info.Mode().Type(), ErrDamaged)
	case info.Size() > most:
		err = fmt.Errorf("%s has %d bytes, at most %d are read: %w", path, info.Size(), most, ErrDamaged)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

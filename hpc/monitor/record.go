package monitor

import (
	"errors"
	"fmt"
	"io"

	"stackagent/internal/checksum"
	"stackagent/internal/units"
)

// Folder is the folder of the samples inside a session's folder.
const Folder = "monitors"

// Version is the version of the files that this package writes and reads.
const Version = 1

const (
	headName = "record.json"
	prefix   = "samples-"
	suffix   = ".parquet"
	digits   = 8
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
	Version      int                      `json:"version"`
	PID          int                      `json:"pid"`
	IntervalNs   units.Ns                 `json:"interval_ns"`
	Complete     bool                     `json:"complete"` // written at the end
	Samples      int64                    `json:"samples"`
	Missed       int64                    `json:"missed"`            // samples that were due and not taken: the sampler got no CPU
	Dropped      int64                    `json:"dropped,omitempty"` // values of monitors beyond the most that are kept, or of parts that could not be written
	CPUNs        units.Ns                 `json:"cpu_ns"`            // that reading took
	Monitors     []Declaration            `json:"monitors"`
	NotAvailable map[string]string        `json:"not_available,omitempty"` // monitor, prefix or group -> why
	Files        map[string]checksum.File `json:"files"`
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

func replace(dir, name string, fill func(io.Writer) error) (checksum.File, error) {
	sum, err := checksum.Replace(dir, name, fill)
	if err != nil {
		err = fmt.Errorf("writing samples: %w", err)
	}
	return sum, err
}

// Package monitor samples the monitors of a JVM: scalars over time that belong to a layer, from the application down to
// the hardware. All sources are read in one tick, so that their values belong to the same moment of one clock.
//
// The concept is that of Hauswirth et al., Vertical Profiling (OOPSLA 2004), section 2.1.
package monitor

import (
	"fmt"
	"slices"
	"time"

	"stackagent/internal/units"
)

// Layer is the part of the system that a monitor observes.
type Layer string

// The layers, from the program down to the machine.
const (
	Application Layer = "application"
	Framework   Layer = "framework"
	Libraries   Layer = "libraries"
	VM          Layer = "vm"
	Native      Layer = "native"
	OS          Layer = "os"
	Hardware    Layer = "hardware"
)

// Layers are all of them in their order.
func Layers() []Layer { return []Layer{Application, Framework, Libraries, VM, Native, OS, Hardware} }

// Depth is the layer's place in that order; an unknown one is below all.
func (l Layer) Depth() int {
	if i := slices.Index(Layers(), l); i >= 0 {
		return i
	}
	return len(Layers())
}

// Kind says what a value of a monitor is.
type Kind uint8

// The kinds.
const (
	Counter Kind = iota // a total that only grows: a sample holds its growth
	Gauge               // the value at the moment of the sample
)

// String is the kind's name in files.
func (k Kind) String() string {
	if k == Gauge {
		return "gauge"
	}
	return "counter"
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(b []byte) error {
	switch string(b) {
	case "counter":
		*k = Counter
	case "gauge":
		*k = Gauge
	default:
		return fmt.Errorf("unknown kind of monitor %q", b)
	}
	return nil
}

// Declaration says what a monitor is. It is the only place that does.
type Declaration struct {
	Name      string   `json:"name"` // "os.minor_faults"; a unit as suffix (_ns, _bytes); labels in braces: app.pool.queued{pool="tax"}
	Layer     Layer    `json:"layer"`
	Unit      string   `json:"unit"` // "ns", "bytes", "tasks"; "": a plain count
	Kind      Kind     `json:"kind"`
	PerThread bool     `json:"per_thread,omitempty"`  // has values for each thread; the process's value is their sum
	Source    string   `json:"source"`                // where it is read: "hsperfdata java.ci.totalTime"
	Doc       string   `json:"doc"`                   // what it counts, and what it cannot see
	Interval  units.Ns `json:"interval_ns,omitempty"` // at which its source is read, if not in each sample

	// Accrued: a counter to which its source adds now and then all that came since it did so last.
	Accrued bool `json:"accrued,omitempty"`

	// When it was read first, and when its source ended before the samples did: the sampler says so.
	From  units.MonoNs `json:"from_ns,omitempty"`
	Until units.MonoNs `json:"until_ns,omitempty"`
}

// ID stands for a declared monitor while samples are taken.
type ID uint32

// Sink takes the values of one sample. A thread is its number in the JVM's process namespace; 0 is the whole process.
type Sink interface {
	// Declare makes a monitor known. The same name always gives the same ID.
	Declare(d Declaration) ID
	// Absent says why a monitor, or all below a prefix ("hw.*"), is not available.
	Absent(name, why string)
	// Total takes the total of a counter so far. The first one is the base and gives no value.
	Total(id ID, thread int32, total int64)
	// Grew takes the growth of a counter since the last sample.
	Grew(id ID, thread int32, by int64)
	// Value takes the value of a gauge.
	Value(id ID, thread int32, value float64)
}

// Source reads some monitors of one JVM. It is used by one goroutine.
type Source interface {
	// Read passes the present values to the sink. at is the time of the sample. An error ends the source.
	Read(at units.MonoNs, to Sink) error
	Close() error
}

// Target is the process of which a source reads the monitors.
type Target struct {
	PID      int           // in this process's namespace
	Interval time.Duration // between samples
}

// Group is what --monitors names: the monitors of one source.
type Group struct {
	Name     string
	Layer    Layer
	Doc      string
	Prefixes []string                       // of the names of its monitors
	Open     func(o Target) (Source, error) // an error says why the group is not available
}

// Bounds on what a session's monitors may be.
const (
	maxMonitors = 20_000
	maxName     = 512
)

// Intervals between samples.
const (
	DefaultInterval = 10 * time.Millisecond
	LeastInterval   = time.Millisecond
	MostInterval    = time.Second
)

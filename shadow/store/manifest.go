package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"stackagent/internal/bounded"
	"stackagent/internal/checksum"
	"stackagent/internal/label"
	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// ManifestName is the file that makes a folder a session.
const ManifestName = "manifest.json"

// Format and Version of the manifest. Version rises when an older reader would
// misread a session; added fields do not raise it.
const (
	Format  = "stackagent session"
	Version = 3
)

// maxManifestBytes bounds what is read from a file that may not be ours.
const maxManifestBytes = 64 << 20

// How a session ended.
const (
	EndedRunning     = ""             // it has not, or the shadow crashed
	EndedExit        = "exit"         // the agent sent its last batch
	EndedLostContact = "lost contact" // no batch came for too long
	EndedClosed      = "shadow closed"
)

// Keys of NotAvailable of a session that was made of another program's recording: where one is set, the figure is not
// known, and its 0 means nothing. An attached agent has "executions" for those that it missed.
const (
	NoExecutions = "all executions"
	NoCreations  = "all creations"
	NoPauses     = "all pauses"
	NoLostCount  = "lost events"
)

// LostByJFR is the reason of losses that JFR reports: how many events, and of which types, it does not say.
const LostByJFR = "reported by JFR (jdk.DataLoss), at least"

// Typed reasons for a folder that is not read as a session.
var (
	ErrNoSession    = errors.New("not a session folder")
	ErrNewerVersion = errors.New("session was written by a newer version of this program")
)

// Identity tells sessions apart, also those to which users gave the same name. Copies of a session share it, and sessions
// made of copies of one recording, whatever their folders are called.
type Identity struct {
	Session, Process, Recording string
	WallUnixNs                  int64
	StartNs                     units.MonoNs
}

// Identity is the session's.
func (m *Manifest) Identity() Identity {
	if m.Recording != "" {
		return Identity{Recording: m.Recording}
	}
	return Identity{Session: m.Session, Process: m.Process, WallUnixNs: m.WallUnixNs, StartNs: m.StartNs}
}

// IdentityOf reads whose session is in dir; damaged: also by a manifest that does not match its checksum.
func IdentityOf(dir string, damaged bool) (Identity, error) {
	m, err := readManifest(dir)
	if m == nil || err != nil && !damaged {
		return Identity{}, err
	}
	return m.Identity(), nil
}

// Incomplete begins the sentence that says what a session lacks.
const Incomplete = "the session is incomplete: "

// Manifest describes a session. Times are CLOCK_MONOTONIC nanoseconds of the
// machine of the JVM; counts are exact.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Session string `json:"session"`

	// Process distinguishes the JVM from others that use the same session name at once.
	Process string `json:"process,omitempty"`

	JVM        JVM          `json:"jvm"`
	Labels     label.Labels `json:"labels,omitzero"` // empty also of an agent that does not say
	WallUnixNs int64        `json:"wall_unix_ns"`    // wall clock at StartNs, nanoseconds since 1970
	StartNs    units.MonoNs `json:"start_ns"`        // when the agent started
	EndNs      units.MonoNs `json:"end_ns"`          // the newest clock reading of the agent
	DurationNs units.Ns     `json:"duration_ns"`     // EndNs - StartNs

	Metrics      []string          `json:"metrics"`
	NotAvailable map[string]string `json:"not_available"`    // metric -> why
	Detail       string            `json:"detail,omitempty"` // the agent's option: "all", "timed", "auto" or "summary"; empty: not known
	Tasks        []string          `json:"tasks,omitempty"`  // the agent's option task: definitions and presets; empty: none, or not known

	Produced Counts `json:"produced"` // by the agent's own count
	Stored   Counts `json:"stored"`   // rows in the parts, and what summaries stand for
	// Summarised is the part of Stored that is in summaries only.
	Summarised Counts `json:"summarised"`
	Lost       Lost   `json:"lost"`
	// Virtual is what virtual threads produced and lost, together; nil: the
	// agent did not say. It is part of Produced and Lost.
	Virtual *ThreadCounts `json:"virtual,omitempty"`
	// Scheduling is what the scheduler of virtual threads did; nil: none was mounted, or the agent did not say.
	Scheduling *VirtualScheduling `json:"virtual_scheduling,omitempty"`
	// Balance holds what each thread produced against what is stored; nil
	// before the end of the session.
	Balance *Balance `json:"balance,omitempty"`
	// Rows counts the rows of the small tables by the names of their files, to
	// show when parts have gone.
	Rows map[string]uint64 `json:"rows,omitempty"`
	// Submissions and Constructions are the account of these records; nil where
	// there are none.
	Submissions   *RecordAccount `json:"submissions,omitempty"`
	Constructions *RecordAccount `json:"constructions,omitempty"`
	// Traces is the account of the rows of `traces`; nil: the program loaded no tracing library that the agent knows,
	// or NotAvailable says why there are none.
	Traces *RecordAccount `json:"traces,omitempty"`
	// Contexts is the account of calling contexts; nil where none were recorded.
	Contexts *ContextSampling `json:"contexts,omitempty"`
	// Waits says which waits were recorded; nil: none. Of sources that are missing, NotAvailable has "waits: KIND".
	Waits *WaitRecording `json:"waits,omitempty"`
	// Extra are the work metrics beside wall and CPU time.
	Extra        []ExtraMetric `json:"extra,omitempty"`
	ClassesWoven uint64        `json:"classes_woven"`
	Refusals     []Refusal     `json:"refusals"`

	Ended       string   `json:"ended"` // one of the Ended constants
	ExitNote    string   `json:"exit_note,omitempty"`
	BadMessages uint64   `json:"bad_messages"` // undecodable or foreign ones, kept out
	Notes       []string `json:"notes,omitempty"`

	// ImportedFrom says of what another program recorded the session was made; empty: it was recorded by the agent, or is a
	// trace of tgp.
	ImportedFrom string `json:"imported_from,omitempty"`
	// Recording tells that recording, or the trace of tgp, from others: the checksum of how it begins. Empty: it was not imported, or by an older
	// version.
	Recording string `json:"recording,omitempty"`
	// PartOf says, a clause for each reason, what of the program that recording does not hold; empty: nothing is known to be
	// missing.
	PartOf []string `json:"part_of,omitempty"`

	// Pieces are the other stores that hold parts of the session. While there are any, what is missing here is
	// not known to be lost, and parts are not merged: their ranges show what is there twice.
	Pieces []Piece `json:"pieces,omitempty"`

	// Sequences lists the closed ranges of batches that are wholly stored.
	Sequences Ranges `json:"sequences"`

	// Files are the checksums of the session's files by their names; from version 3 on.
	Files map[string]checksum.File `json:"files"`
	// SchedulingRecord is the id of the scheduling record; empty: none was there when the session ended.
	SchedulingRecord string `json:"scheduling_record,omitempty"`
	// Digest is the checksum of the manifest itself. It stands last in the file.
	Digest string `json:"digest,omitempty"`
}

// WaitRecording says which waits were recorded.
type WaitRecording struct {
	LimitNs units.Ns `json:"limit_ns"` // shorter ones are only summed up
	Sources []string `json:"sources"`  // kinds of waits
}

// JVM is what the agent says about its process.
type JVM struct {
	PID          int    `json:"pid"`
	Host         string `json:"host"`
	Version      string `json:"version"`
	Name         string `json:"name"`
	Home         string `json:"home"`
	MainClass    string `json:"main_class"`
	GC           string `json:"gc"`
	MaxHeapBytes int64  `json:"max_heap_bytes,omitempty"` // by the JVM's options; 0: they do not say
	CPUs         int    `json:"cpus"`
	AgentVersion string `json:"agent_version"`
	Clock        string `json:"clock"`     // "tsc", "cntvct" or "monotonic"
	CPUClock     string `json:"cpu_clock"` // how CPU time is read
	StartTicks   uint64 `json:"start_ticks"`

	// HostID is the boot id of the JVM's kernel; empty: the JVM was not announced to observers.
	HostID string `json:"host_id,omitempty"`
	// ObserverWaitNs is how long the program waited for an observer before it started; nil: as HostID.
	ObserverWaitNs *units.Ns `json:"observer_wait_ns,omitempty"`
}

// same reports whether two descriptions are of the same JVM.
func (j JVM) same(o JVM) bool {
	j.ObserverWaitNs, o.ObserverWaitNs = nil, nil // pointers; what else there is tells JVMs apart
	return j == o
}

// Counts of event records.
type Counts struct {
	Executions uint64 `json:"executions"`
	Creations  uint64 `json:"creations"`
}

// Sum of both.
func (c Counts) Sum() uint64 { return c.Executions + c.Creations }

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Executions += o.Executions
	c.Creations += o.Creations
}

// Lost says what was produced but is not in the parts. For a session that is
// whole, produced = stored + events.
type Lost struct {
	Events   uint64 `json:"events"`   // Reported + InGaps
	Switches uint64 `json:"switches"` // context switch records
	Batches  uint64 `json:"batches"`  // sequence numbers that never arrived

	Reported uint64            `json:"reported"` // events that the agent itself could not deliver
	ByReason map[string]uint64 `json:"by_reason,omitempty"`
	InGaps   uint64            `json:"in_gaps"` // events of batches that never arrived
	// ByThread is what was lost behind the rings, by thread, ascending: [thread,
	// events]; thread 0: virtual threads together. Part of Reported.
	ByThread [][2]uint64 `json:"by_thread,omitempty"`
	// Unaccounted is produced - stored - Reported of a session that ended in
	// order, where no batch is missing to explain it. Anything but 0 is a fault of
	// the agent or of the shadow. (Before the end, records are on their way.)
	Unaccounted int64 `json:"unaccounted"`
}

// AddThread takes over a running sum of what thread lost behind its ring: of
// several, the largest counts, whatever the order in which they come.
// It reports whether there was room.
func (l *Lost) AddThread(thread uint32, events uint64) bool {
	i, found := slices.BinarySearchFunc(l.ByThread, uint64(thread), func(x [2]uint64, id uint64) int { return cmp.Compare(x[0], id) })
	if !found && len(l.ByThread) == MaxLostThreads {
		return false
	}
	if !found {
		l.ByThread = slices.Insert(l.ByThread, i, [2]uint64{uint64(thread), 0})
	}
	l.ByThread[i][1] = max(l.ByThread[i][1], events)
	return true
}

// MaxLostThreads bounds Lost.ByThread.
const MaxLostThreads = 1 << 16

// Refusal counts the classes that kept their bytes for one reason.
type Refusal struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
	Sample string `json:"sample"`
}

// ReadManifest reads and checks the manifest of the session in dir.
func ReadManifest(dir string) (*Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// readManifest is ReadManifest, and gives also one that does not match its
// checksum, beside the error.
func readManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	f, err := sessionfs.Open(path)
	data, err := bounded.All(f, maxManifestBytes+1, err)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: there is no %s in it", dir, ErrNoSession, ManifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the session's manifest: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ParseManifest decodes and checks a manifest.
func ParseManifest(data []byte) (*Manifest, error) {
	m, err := parseManifest(data)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func parseManifest(data []byte) (*Manifest, error) {
	if len(data) > maxManifestBytes {
		return nil, fmt.Errorf("%w: the manifest is larger than %d bytes", ErrNoSession, maxManifestBytes)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, damagedManifest(err)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("%w: format is %q, not %q", ErrNoSession, head.Format, Format)
	}
	if head.Version > Version {
		return nil, fmt.Errorf("%w (%d, this one reads up to %d); update it", ErrNewerVersion, head.Version, Version)
	}
	if head.Version < 1 {
		return nil, fmt.Errorf("%w: version %d", ErrNoSession, head.Version)
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, damagedManifest(err)
	}
	if err := m.check(); err != nil {
		return nil, damagedManifest(err)
	}
	m.Labels = m.Labels.Valid()
	if m.Sealed() || m.Digest != "" || m.Files != nil {
		if err := checksum.CheckJSON(data); err != nil {
			return m, fmt.Errorf("%w: the manifest: %w; restore it from a copy", ErrDamaged, err)
		}
	}
	return m, nil
}

func damagedManifest(err error) error {
	return fmt.Errorf("%w: the manifest is damaged (%w); restore it from a copy, or read the Parquet files beside it with another program", ErrNoSession, err)
}

func (m *Manifest) check() error {
	if err := errors.Join(ValidateName(m.Session), wire.ValidProcess(m.Process)); err != nil {
		return err
	}
	if err := checkExtra(m.Extra); err != nil {
		return err
	}
	return m.Sequences.Check()
}

// write replaces the manifest of dir so that a reader sees the old one or the
// new one, never half of one.
func (m *Manifest) write(dir string) error {
	a := asides{dir: dir}
	defer a.drop()
	if err := m.writeTo(&a); err != nil {
		return err
	}
	return a.last()
}

// writeTo writes the manifest aside.
func (m *Manifest) writeTo(a *asides) error {
	m.Format, m.Version, m.Digest = Format, Version, ""
	if m.Files == nil {
		m.Files = map[string]checksum.File{}
	}
	data, err := checksum.JSON(m)
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	_, err = a.write(ManifestName, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// Package jfrimport makes a session of a recording of the JVM's flight recorder (JFR), of the JVM itself or of async-profiler.
// What a recording lacks is not available in the session. docs/import.md says what each kind of recording gives.
//
// Memory is bounded: a recording is read chunk by chunk, and executions and waits are sorted on the disk.
package jfrimport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"stackagent/internal/jfrfile"
	"stackagent/internal/text"
	"stackagent/shadow/store"
)

// Source is what the manifest of an imported session names as its origin.
const Source = "a JFR recording"

// Limits of what is kept in memory.
const (
	maxNames    = 4 << 20 // threads; other names
	maxPauses   = 4 << 20
	maxContexts = 1 << 18
	maxFrames   = 64   // of a context
	maxText     = 4096 // bytes of a name
)

// ErrTooLarge is a recording beyond the limits.
var ErrTooLarge = errors.New("larger than what is imported")

// Options of an import.
type Options struct {
	Methods bool   // each traced method is a task, not only those that execute tasks
	Temp    string // folder for what does not fit into memory
	// Progress, if not nil, is called now and then.
	Progress func(done, total int64)
}

// Result says what was imported.
type Result struct {
	Executions, Waits, Pauses, Threads int64
	// LeftOut counts the events of types that a session has no place for, by type.
	LeftOut map[string]int64
	Notes   []string
}

// Build writes the session to the folder dir, which must be new or empty.
func Build(dir string, in io.ReaderAt, size int64, o Options) (*Result, error) {
	dir = filepath.Clean(dir)
	name := filepath.Base(dir)
	b := newBuilder(o)
	defer b.rows.close()
	if err := store.CheckFree(dir); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	if err := b.read(in, size); err != nil {
		return nil, err
	}
	recording, err := identify(in, size)
	if err != nil {
		return nil, err
	}
	w, err := store.OpenWriter(filepath.Dir(dir), name, name)
	if err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	b.w = w
	if err := b.write(); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	b.describe()
	w.Manifest.Recording = recording
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	b.result.Notes = append(append(b.result.Notes, b.partOf()...), b.notes()...)
	return &b.result, nil
}

// identifiedBy is how much of a recording tells it from others: in the header of its first chunk are the start, in nanoseconds
// and in ticks, and the length; the first events follow.
const identifiedBy = 1 << 20

// identify is the checksum of how a recording begins.
func identify(in io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(in, 0, min(size, identifiedBy))); err != nil {
		return "", fmt.Errorf("reading a recording: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// builder turns the events of a recording into the rows of a session.
type builder struct {
	o      Options
	w      *store.Writer
	result Result
	names
	settings settings
	facts    facts
	rows     *sorter
	lives    lives
	gc       collections

	chunk    *jfrfile.Chunk
	seen     map[jfrfile.Header]bool
	clock    clock
	handlers map[*jfrfile.Type]handler // of the chunk; nil: left out
	count    map[string]int64          // events by type

	seq      uint64 // of the latest part
	part     *store.Part
	overlaps int64
}

func newBuilder(o Options) *builder {
	b := &builder{o: o, count: map[string]int64{}, rows: newSorter(o.Temp)}
	b.names.init()
	b.settings.init()
	b.facts.waitTypes = map[string]bool{}
	b.lives.init()
	b.gc.init()
	b.result.LeftOut, b.seen = map[string]int64{}, map[jfrfile.Header]bool{}
	return b
}

// read reads the whole recording.
func (b *builder) read(in io.ReaderAt, size int64) error {
	f := jfrfile.Open(in, size)
	for {
		c, err := f.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := b.readChunk(c); err != nil {
			return err
		}
		if b.o.Progress != nil {
			b.o.Progress(c.End(), size)
		}
	}
	return b.endLives()
}

func (b *builder) readChunk(c *jfrfile.Chunk) error {
	if b.seen[c.Header] { // as in dumps of one JVM that overlap and were joined
		b.facts.repeated++
		return nil
	}
	b.seen[c.Header] = true
	b.chunk = c
	b.clock.chunk(&c.Header)
	b.names.chunk(c)
	b.handlers = map[*jfrfile.Type]handler{}
	for _, t := range c.Types {
		b.handlers[t] = handlers[t.Name]
		b.settings.name(t.ID, t.Name)
	}
	return c.Events(func(e jfrfile.Value) error {
		t := e.Type()
		b.count[t.Name]++
		h := b.handlers[t]
		if h == nil {
			b.result.LeftOut[t.Name]++
			return nil
		}
		return h(b, e)
	})
}

// clock puts the times of all chunks on one axis: nanoseconds since 1970 by the clock of the first one, as the wall clock
// may have been set between two chunks.
type clock struct {
	first      *jfrfile.Header
	now        *jfrfile.Header
	offset     int64
	start, end int64
}

// apart is how far the clocks of two chunks of one JVM may be apart: NTP steps and a few seconds of drift.
const apart = 3600 * 1_000_000_000

func (k *clock) chunk(h *jfrfile.Header) {
	k.now, k.offset = h, 0
	if k.first == nil {
		k.first, k.start = h, h.StartUnixNs
	}
	if h.TicksPerSecond == k.first.TicksPerSecond {
		by := k.first.Ns(h.StartTicks) - h.StartUnixNs
		if by > -apart && by < apart { // else of another JVM, or the clock was calibrated anew
			k.offset = by
		}
	}
	k.end = max(k.end, h.StartUnixNs+k.offset+max(h.DurationNs, 0))
	k.start = min(k.start, h.StartUnixNs+k.offset)
}

// span is the time of an event; ok is false for one that no recording has.
func (k *clock) span(e jfrfile.Value) (start, end int64, ok bool) {
	return k.at(e.Get("startTime").Int(), e.Get("duration").Int())
}

// at is the time from a tick on. Ends are those of ticks, too: what ends with what encloses it does so after rounding.
func (k *clock) at(tick, long int64) (start, end int64, ok bool) {
	if long < 0 || tick > math.MaxInt64-long {
		return 0, 0, false
	}
	start, end = k.now.Ns(tick)+k.offset, k.now.Ns(tick+long)+k.offset
	if start < 0 || end < start || end > maxTime {
		return 0, 0, false
	}
	k.start, k.end = min(k.start, start), max(k.end, end)
	return start, end, true
}

const maxTime = 1 << 62

func plural(n int64, one, many string) string { return text.PluralExact(n, one, many) }

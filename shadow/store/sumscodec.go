package store

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// sumsKey is the key of the sums in the footer of a part. The value is sumsVersion and, in base64, a zstd
// frame with a checksum of numbers of variable length (docs/internals/format-session.md).
const (
	sumsKey      = "stackagent.sums"
	sumsVersion  = "1 "
	maxSumsText  = 1 << 20 // of larger ones the rows are read
	maxSumsBytes = 4 << 20
	maxSumsRows  = rowGroupRows << 4
)

var errSums = errors.New("no sums of a part")

var sumsZip = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
})

var sumsUnzip = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSumsBytes), zstd.WithDecoderConcurrency(0))
})

// metadata is s for the footer of a part; nothing if there are no sums or they are too large.
func (s *Sums) metadata(extra []string) ([]format.KeyValue, error) {
	if s == nil {
		return nil, nil
	}
	zip, err := sumsZip()
	if err != nil {
		return nil, fmt.Errorf("encoding the sums of a part: %w", err)
	}
	plain := s.append(nil, extra)
	if len(plain) > maxSumsBytes {
		return nil, nil
	}
	text := sumsVersion + base64.StdEncoding.EncodeToString(zip.EncodeAll(plain, nil))
	if len(text) > maxSumsText {
		return nil, nil
	}
	return []format.KeyValue{{Key: sumsKey, Value: text}}, nil
}

func (s *Sums) append(b []byte, extra []string) []byte {
	metrics := s.metrics()
	b = binary.AppendUvarint(b, uint64(len(metrics)))
	for _, m := range metrics {
		name := MetricName(m, extra)
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	b = binary.AppendUvarint(b, s.Rows)
	b = binary.AppendVarint(b, int64(s.First))
	b = binary.AppendVarint(b, int64(s.Last))
	b = binary.AppendUvarint(b, uint64(len(s.Classes)))
	for i := range s.Classes {
		b = s.Classes[i].append(b, metrics)
	}
	return b
}

// metrics are those of which any class has a value.
func (s *Sums) metrics() (list []wire.Metric) {
	seen := map[wire.Metric]bool{}
	for i := range s.Classes {
		for k := range s.Classes[i].Work {
			if m := s.Classes[i].Work[k].Metric; !seen[m] {
				seen[m], list = true, append(list, m)
			}
		}
	}
	return list
}

func (c *ClassSums) append(b []byte, metrics []wire.Metric) []byte {
	b = binary.AppendUvarint(b, uint64(c.Class))
	b = binary.AppendUvarint(b, uint64(len(c.Flags)))
	for _, f := range c.Flags {
		flags := uint64(f.Flags) << 1
		if f.Nested {
			flags |= 1
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, flags), f.Count)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Threads)))
	last := uint32(0)
	for _, t := range c.Threads {
		b, last = binary.AppendUvarint(b, uint64(t-last)), t
	}
	for _, m := range metrics {
		w := &WorkSums{}
		for k := range c.Work {
			if c.Work[k].Metric == m {
				w = &c.Work[k]
			}
		}
		b = w.Append(b)
	}
	return b
}

// sumsOf are the sums in the footer of a part; an error says why there are none that can be believed.
func sumsOf(pf *parquet.File, extra []string) (*Sums, error) {
	text, ok := pf.Lookup(sumsKey)
	if !ok {
		return nil, errSums
	}
	s, err := parseSums(text, extra)
	if err == nil && s.Rows != uint64(pf.NumRows()) {
		err = fmt.Errorf("%w: they are of %d rows, the part has %d", errSums, s.Rows, pf.NumRows())
	}
	return s, err
}

// parseSums decodes sums of anybody.
func parseSums(text string, extra []string) (*Sums, error) {
	code, ok := strings.CutPrefix(text, sumsVersion)
	if !ok || len(text) > maxSumsText {
		return nil, fmt.Errorf("%w: another version, or %d bytes", errSums, len(text))
	}
	packed, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSums, err)
	}
	unzip, err := sumsUnzip()
	if err != nil {
		return nil, fmt.Errorf("decoding the sums of a part: %w", err)
	}
	plain, err := unzip.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSums, err)
	}
	r := &sumsReader{data: plain, numbers: metricNumbers(extra)}
	s := r.sums()
	if r.failed || len(r.data) > 0 {
		return nil, fmt.Errorf("%w: they are damaged", errSums)
	}
	return s, nil
}

// sumsReader reads numbers; after the first that cannot be, all are 0.
type sumsReader struct {
	data    []byte
	numbers map[string]wire.Metric
	failed  bool
}

func (r *sumsReader) fail() { r.failed, r.data = true, nil }

// count is a number of at most limit.
func (r *sumsReader) count(limit uint64) uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > limit {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// length is the number of items to come, each of which is at least a byte.
func (r *sumsReader) length(limit int) int {
	n := int(r.count(uint64(limit)))
	if n > len(r.data) {
		r.fail()
		return 0
	}
	return n
}

func (r *sumsReader) number() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *sumsReader) sums() *Sums {
	var metrics []wire.Metric
	for range r.length(2*wire.MaxExtra + len(metricNames)) {
		n := r.length(maxColumn + len("self_"))
		if r.failed {
			return nil
		}
		metrics = append(metrics, r.numbers[string(r.data[:n])])
		r.data = r.data[n:]
	}
	s := &Sums{Rows: r.count(maxSumsRows), First: units.MonoNs(r.number()), Last: units.MonoNs(r.number())}
	rows := uint64(0)
	for i := range r.length(maxSums) {
		c := r.class(metrics, s.Rows)
		if i > 0 && c.Class <= s.Classes[i-1].Class {
			r.fail()
		}
		for _, f := range c.Flags {
			rows += f.Count
		}
		if r.failed {
			return nil
		}
		s.Classes = append(s.Classes, c)
	}
	if rows != s.Rows {
		r.fail()
	}
	return s
}

func (r *sumsReader) class(metrics []wire.Metric, rows uint64) (c ClassSums) {
	c.Class = uint32(r.count(1<<32 - 1))
	all := uint64(0)
	for range r.length(2 * sumsFlags) {
		flags := r.count(2*sumsFlags - 1)
		n := r.count(rows)
		all += n
		c.Flags = append(c.Flags, FlagSum{uint16(flags >> 1), flags&1 != 0, n})
	}
	thread := uint64(0)
	for i := range r.length(int(min(rows, maxSumsRows))) {
		step := r.count(1<<32 - 1 - thread)
		if i > 0 && step == 0 {
			r.fail()
		}
		thread += step
		c.Threads = append(c.Threads, uint32(thread))
	}
	for _, m := range metrics {
		if w := r.work(all); w.Count > 0 && m != 0 {
			w.Metric = m
			c.Work = append(c.Work, w)
		}
	}
	return c
}

// work reads the values of a metric in a class of that many rows.
func (r *sumsReader) work(rows uint64) (w WorkSums) {
	h, rest, err := histogram.Parse(r.data, rows)
	if r.data = rest; err != nil || h.Count > 0 && !units.Ns(h.Min).Measured() {
		r.fail()
	}
	return WorkSums{Histogram: h}
}
